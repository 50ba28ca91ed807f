"""``GET /healthz`` for load balancers, ``GET /`` for a person who finds the address."""

from __future__ import annotations

import asyncio

import psycopg
from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from psycopg_pool import PoolTimeout

from app.jobs.queue import Pool
from app.webhooks.receive import PATH

TIMEOUT_SECONDS = 5.0


def router(pool: Pool) -> APIRouter:
    """The routes on one database."""
    routes = APIRouter()

    @routes.get("/healthz")
    async def healthz() -> Response:
        try:
            async with (
                asyncio.timeout(TIMEOUT_SECONDS),
                pool.connection(timeout=TIMEOUT_SECONDS) as connection,
            ):
                await connection.execute("SELECT 1")
        except (psycopg.Error, PoolTimeout, TimeoutError):
            return PlainTextResponse("The database does not answer.\n", status_code=503)
        return PlainTextResponse("ok\n")

    @routes.get("/")
    async def home() -> Response:
        return PlainTextResponse(f"npu-review. Webhooks of the GitHub App go to POST {PATH}.\n")

    @routes.post("/")
    async def misdirected() -> Response:
        return PlainTextResponse(
            f"Webhooks go to {PATH}; set it as the App's webhook URL.\n", status_code=404
        )

    return routes
