"""A page of FastAPI with an FAQ, and the FAQ as JSON: `uvicorn --app-dir docs/examples fastapi_app:app`."""

from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates

from faqsvc_embed import FAQEmbed
from faqsvc_embed.fastapi import FAQMiddleware, FAQs
from faqsvc_embed.jinja import install

embed = FAQEmbed()
templates = Jinja2Templates(Path(__file__).parent / "templates")
install(templates.env, embed)

app = FastAPI()
app.add_middleware(FAQMiddleware, embed=embed)


@app.get("/", response_class=HTMLResponse)
async def home(request: Request) -> HTMLResponse:
    """Show the FAQ `pricing`."""
    return templates.TemplateResponse(request, "home.html")


@app.get("/pricing.json")
async def pricing(faqs: FAQs) -> dict[str, Any]:
    """Return the FAQ `pricing` as data."""
    state = await faqs.ause_faq("pricing")
    if state.data is None:
        raise HTTPException(503, str(state.error))
    return state.data.to_dict()
