# docker build --tag pydlshogi .
# docker run --interactive --rm pydlshogi                                                   USI on stdin and stdout
# docker run --rm --network host pydlshogi pydlshogi-board --no-browser --port 8000         the board, on Linux
# docker run --rm --env CSA_PASSWORD --volume "$PWD:/games" pydlshogi pydlshogi-csa HOST --user NAME --records /games
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml setup.py README.md LICENSE ./
COPY pydlshogi pydlshogi
COPY model model
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir /wheels/pydlshogi-*.whl \
    && python -m pydlshogi.compile \
    && useradd --create-home player
USER player
CMD ["pydlshogi"]
