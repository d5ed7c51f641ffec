"""The figures of `scansnap`, as records of what each panel shows."""
