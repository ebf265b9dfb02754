#!/usr/bin/env python3
"""Between a server and its database: connections pass, and are cut or delayed as lines of stdin say.

  proxy.py DIRECTORY_OF_THE_PROXY DIRECTORY_OF_THE_DATABASE

Both have PostgreSQL's socket. Lines: `cut` ends all connections at once; `delay SECONDS FOR` holds back what comes, for so long.
"""
import asyncio
import os
import sys

NAME = ".s.PGSQL.5432"
LINKS, DELAY = set(), [0.0, 0.0]


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            if DELAY[0] > 0 and asyncio.get_running_loop().time() < DELAY[1]:
                await asyncio.sleep(DELAY[0])
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def link(reader, writer):
    LINKS.add(writer)
    try:
        there_reader, there_writer = await asyncio.open_unix_connection(os.path.join(sys.argv[2], NAME))
    except OSError:
        writer.close()
        LINKS.discard(writer)
        return
    LINKS.add(there_writer)
    await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer))
    LINKS.difference_update({writer, there_writer})


async def main():
    await asyncio.start_unix_server(link, os.path.join(sys.argv[1], NAME))
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := (await commands.readline()).split():
        if line[0] == b"cut":
            for writer in list(LINKS):
                writer.transport.abort()
        else:
            DELAY[:] = [float(line[1]), loop.time() + float(line[2])]


asyncio.run(main())
