"""Operations on files counted, so that one of them can fail or be the last.

They are what `attnflow.schema.files` does: a file is opened for writing, each piece of
it is written in two halves, brought to the disk and closed, and renamed or removed;
directories are made.
"""

import errno
import os
import signal
import sys
from pathlib import Path

KILL, FULL = "kill", "full"
"""The process and all that it started are killed; the disk is full from then on."""
_FILLING = ("open", "write", "fsync", "rename", "mkdir")


class Moments:
    """Counts operations; at the `moment` of one, and with `FULL` ever after, it harms.

    Nothing happens without a moment.
    """

    def __init__(self, how="", moment=None):
        self.how = how
        self.moment = moment
        self.count = 0

    def meet(self, operation):
        number, self.count = self.count, self.count + 1
        if self.moment is None or number < self.moment:
            return
        if self.how == KILL:
            os.killpg(os.getpgrp(), signal.SIGKILL)
        elif self.how == FULL and operation in _FILLING:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def install(self):
        """Count what this process does from now on."""
        opened = Path.open

        def open_counted(path, mode="r", *args, **kwargs):
            if not set(mode) & set("wax"):
                return opened(path, mode, *args, **kwargs)
            self.meet("open")
            return _File(opened(path, mode, *args, **kwargs), self)

        Path.open = open_counted
        Path.replace = self.counted("rename", Path.replace)
        Path.unlink = self.counted("unlink", Path.unlink)
        Path.mkdir = self.counted("mkdir", Path.mkdir)
        os.fsync = self.counted("fsync", os.fsync)

    def counted(self, operation, function):
        def wrapped(*args, **kwargs):
            self.meet(operation)
            return function(*args, **kwargs)

        return wrapped


class _File:
    """A file whose writes go to the system at once, in two halves."""

    def __init__(self, file, moments):
        self._file, self._moments = file, moments

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        if name == "fileno" and not self._is_plain():
            raise AttributeError(name)
        return getattr(self._file, name)

    def _is_plain(self):
        """Pictures are written by C code where it finds a number of the file."""
        return "PIL" not in sys._getframe(2).f_globals.get("__name__", "")

    def write(self, content):
        half = len(content) // 2
        for part in (content[:half], content[half:]):
            self._moments.meet("write")
            self._file.write(part)
            self._file.flush()
        return len(content)

    def close(self):
        self._moments.meet("close")
        self._file.close()


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    *("os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.link", "os.symlink"),
    *("os.truncate", "os.chmod", "os.chown", "shutil.rmtree"),
}


def watch(root):
    """A list that fills with what this process writes to outside of `root`.

    Python tells of every call; libraries in C that open files by themselves do not.
    """
    outside = []

    def listen(event, args):
        if event == "open":
            path, _, flags = args
            is_write = isinstance(flags, int) and flags & _WRITES
            paths = [path] if is_write else []
        elif event in _CHANGES:
            paths = args[: 2 if event in ("os.rename", "os.link") else 1]
        else:
            return
        for path in paths:
            if isinstance(path, (str, bytes, os.PathLike)):
                place = os.path.abspath(os.fsdecode(path))
                # A module that is imported for the first time is kept compiled.
                if "__pycache__" in place:
                    continue
                if not place.startswith((root, "/dev/null", "/proc/self")):
                    outside.append(f"{event} {place}")

    sys.addaudithook(listen)
    return outside
