"""Models: problems and their forces, exact forms of the parameters, deep stacks."""
