# One image for web and worker: `serve` is the default command, `worker` only reviews. Both need the settings of the
# README and a DATABASE_URL: the user of this image has no home for the embedded PostgreSQL.
FROM python:3.12-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/npu-review
WORKDIR /src
COPY deploy/server.lock deploy/server.lock
RUN /opt/npu-review/bin/pip install --require-hashes -r deploy/server.lock
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY checks checks
RUN /opt/npu-review/bin/pip install --no-deps --no-build-isolation .

FROM python:3.12-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin npu-review
COPY --from=build /opt/npu-review /opt/npu-review
ENV PATH=/opt/npu-review/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    NPU_REVIEW_HOST=0.0.0.0 NPU_REVIEW_PORT=8000
USER 10001
EXPOSE 8000
# With DATABASE_URL nothing is written but to /tmp, so the root file system can be read-only.
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=5)"]
ENTRYPOINT ["npu-review"]
CMD ["serve"]
