"""One experiment of each paper at sizes that take seconds."""

TINY = {
    "mixture/figure1": {"steps": 4, "records": 3, "width": 8},
    "cooccurrence/figure1": {"steps": 4, "records": 3, "samples": 12, "width": 8}
    | {"neurons": 8, "test_samples": 5, "length": 4},
    "signgd/setting-a": {"steps": 3, "samples": 4, "embed": 40, "support": 5}
    | {"key_neurons": 4, "value_neurons": 2, "test_samples": 4},
    "vit/figure1": {"steps": 3, "samples": 4, "length": 3, "embed": 30}
    | {"key_width": 8, "value_width": 8, "test_samples": 4, "classes": "equal"},
    "scansnap/figure4-left": {"steps": 3, "form": "active", "length": 12, "batch": 8},
}
