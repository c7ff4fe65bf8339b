import { describe, expect, it } from "vitest";
import { isMemoryTool, isUniversalTool, isWebTool } from "../../../../src/routing/tools/kinds.ts";
import { verbClassesOf } from "../../../../src/routing/tools/verbs.ts";
import { makeTool } from "../../../support/catalog.ts";

const tool = (name: string, description: string, ...fields: readonly string[]) =>
  makeTool({
    name,
    description,
    parameters: { type: "object", properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])) },
  });

describe("a tool's kind follows from what it does", () => {
  it.each([
    tool("core_memory_add", "Store a fact"),
    tool("save_note", "Save a fact about the user for later conversations", "text"),
    tool("lookup_profile", "Look up the user's preferences", "topic"),
    tool("create_entities", "Add entities to the knowledge graph", "entities"),
  ])("memory: $name", (memory) => {
    expect(isMemoryTool(memory)).toBe(true);
  });

  it.each([
    tool("update_user", "Update the email address of a user", "user_id", "email"),
    tool("create_order", "Create an order", "item"),
    tool("getMemoryUsage", "Retrieve the memory usage of the operating system", "unit"),
    tool("createGraphic", "Create a graphic design", "width"),
    tool("getAutobiography", "Retrieve the autobiography of a person", "person_name"),
    tool("prepareCall", "Create a statement for calling a stored procedure", "sql"),
    tool("recommend_books", "Retrieves recommendations based on user preferences", "topic"),
  ])("no memory: $name", (other) => {
    expect(isMemoryTool(other)).toBe(false);
  });

  it.each([
    tool("tavily", "A search engine for agents", "query"),
    tool("read_url", "Return the text at an address", "url"),
    tool("ask", "Look something up", "query", "max_results"),
    tool("WebFetch", "Fetches content from a specified URL", "url", "prompt"),
    tool("brave_web_search", "Performs a search", "query"),
    tool("browser_navigate", "Navigate to an address", "url"),
    tool("fetch", "Fetches a URL from the internet and returns its contents as markdown", "url"),
    tool("search", "Search the web with our customized search engine", "q", "site"),
  ])("web: $name", (web) => {
    expect(isWebTool(web)).toBe(true);
  });

  it.each([
    tool("search_products", "Search the shop for products", "query"),
    tool("search", "Search internal documents", "query"),
    tool("search_flights", "Search flights", "origin", "destination"),
    tool("get_news", "Retrieve news articles for a specific topic", "topic", "days"),
    tool("send_newsletter", "Send a newsletter to the community members", "subject"),
    tool("website_design_tool", "Help the user to design a website", "template"),
    tool("check_ssl", "Check the SSL certificate of a website", "website_url"),
    tool("text_to_speech", "Convert texts to audio, with a download link or an embedded player", "text"),
    tool("google_books_search", "Search for a book in the Google Books library", "genre", "title"),
    tool("getBrowserSize", "Retrieve the size of the user's browser window"),
    tool("seo_rank", "Retrieve the search engine ranking of a keyword", "keyword"),
  ])("no web: $name $description", (other) => {
    expect(isWebTool(other)).toBe(false);
  });

  it("takes anything where it runs a command or sends a request", () => {
    expect(isUniversalTool(tool("run_command", "Execute a shell command", "command"))).toBe(true);
    expect(isUniversalTool(tool("get_weather", "Get the weather", "city"))).toBe(false);
  });
});

describe("verb classes", () => {
  it("are shared by requests and tools that do the same", () => {
    expect(verbClassesOf(["cancel"]) & verbClassesOf(["delete"])).not.toBe(0);
    expect(verbClassesOf(["cancel"]) & verbClassesOf(["order"])).toBe(0);
    expect(verbClassesOf(["table"])).toBe(0);
  });
});
