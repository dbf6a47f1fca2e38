"""The entry point: everything that can go wrong for a user ends here, as one line and an exit code.

It imports the verbs inside the guard, so that Ctrl-C is quiet from the first moment on.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run ``wayword``.

    Exits with 2 for a mistake in the input, 3 for a text that is not flown, 130 for Ctrl-C, 0 when the reader of our
    output went away.
    """
    from wayword import __version__
    from wayword.errors import WaywordError

    words = sys.argv[1:] if arguments is None else arguments
    if words == ["--version"]:
        print(f"wayword {__version__}")
        return
    try:
        from wayword.cli.main import run

        run(words)
        sys.stdout.flush()
    except WaywordError as error:
        print(f"wayword: {' '.join(str(error).splitlines())}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        print("wayword: stopped; nothing half-written was left", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains as it exits
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
