"""``python -m wayword``: the same as ``wayword``, where that is not on the path."""

from wayword.cli.launch import main

if __name__ == "__main__":
    main()
