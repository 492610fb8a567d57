"""An application that says which process answered, for processes that are started anew."""

import os


async def answered(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})


def making():
    return answered


def failing():
    raise RuntimeError("This worker cannot serve.")
