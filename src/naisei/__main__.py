"""`python -m naisei` is `naisei`."""

from naisei.cli.main import main

if __name__ == "__main__":
    main()
