"""Small tasks of sequence classes, and the full tables written out by hand."""

import jax
import jax.numpy as jnp
import numpy as np

from attnflow.data.sequence_classes import AlikeClasses, SequenceClasses
from attnflow.models.forms.token_classes import spell_out

MODELS = {
    "l2": {},
    "none": {"normalised": False},
    "text": {"residual": "normalised"},
    "code": {"residual": "plain"},
}


def alike(**changes):
    """Six alike classes with kinds of several tokens."""
    parts = {
        "queries": 2,
        "classes_per_query": 3,
        "common": (1.0, 2.0),
        "distinct": (0.3, 0.5, 0.9),
        "common_tokens": (2, 1),
        "distinct_tokens": (1, 3, 2),
        "vocabulary": 80,
    }
    return AlikeClasses(**{**parts, **changes})


def unlike() -> SequenceClasses:
    """Three classes, no two alike; a query that is a context elsewhere."""
    table = np.zeros((3, 9))
    table[0, [0, 1, 2]] = 0.3, 0.5, 0.2
    table[1, [0, 1, 3, 6]] = 0.3, 0.1, 0.5, 0.1
    table[2, [0, 4]] = 0.4, 0.2
    return SequenceClasses(
        probability=tuple(map(tuple, table.tolist())),
        query=(5, 5, 6),
        next_token=(7, 8, 5),
        multiplicity=(1, 1, 1, 1, 3, 1, 1, 1, 1),
    )


def mean_loss(task, model, tables):
    """The mean loss over long sequences, from definitions alone; tables of M × M."""
    task = spell_out(task)
    query, label = np.array(task.query), np.array(task.next_token)
    grown = jnp.asarray(task.table) * jnp.exp(tables["scores"][query])
    c = grown / grown.sum(axis=1, keepdims=True)
    query_vector = jax.nn.one_hot(query, task.vocabulary)
    read = {
        "l2": lambda: unit(c),
        "none": lambda: c,
        "text": lambda: unit(unit(c) + query_vector),
        "code": lambda: unit(c + query_vector),
    }[model]()
    logs = jax.nn.log_softmax(read @ tables["values"], axis=1)
    return -logs[jnp.arange(len(label)), label].mean()


def unit(rows):
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


def sequence_loss(task, model, tables, label, sequences):
    """The mean loss of sequences, token by token, from definitions alone."""
    query, following = np.array(task.query)[label], np.array(task.next_token)[label]
    onehot = jax.nn.one_hot(sequences, task.vocabulary)
    z = jnp.einsum("ntl,nl->nt", onehot, tables["scores"][query])
    c = jnp.einsum("nt,ntl->nl", jax.nn.softmax(z, axis=1), onehot)
    query_vector = jax.nn.one_hot(query, task.vocabulary)
    read = {"l2": unit(c), "none": c, "text": unit(unit(c) + query_vector)}
    read["code"] = unit(c + query_vector)
    logs = jax.nn.log_softmax(read[model] @ tables["values"], axis=1)
    return -logs[jnp.arange(len(label)), following].mean()


def apart(reference, other):
    """The largest difference, relative to the largest entry."""
    return max(
        float(np.abs(np.asarray(reference[n]) - np.asarray(other[n])).max())
        / float(np.abs(np.asarray(reference[n])).max())
        for n in reference
    )
