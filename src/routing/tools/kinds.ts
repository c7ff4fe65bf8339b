// Kinds of tools, told by what they do rather than by their names: stores of what the user said, searches of the web, and
// universal tools that take any request. Reads a bounded part of each definition.

import type { Tool } from "../../core/chat.ts";

const NAME_CHARS = 80;
const DESCRIPTION_CHARS = 300;
const FIELDS_MAX = 16;

/** The names of a tool's parameters, and whether each of them must be given. */
export function fieldsOf({ parameters }: Tool): readonly [name: string, schema: Record<string, unknown>][] {
  const properties = parameters?.properties;
  if (typeof properties !== "object" || properties === null) return [];
  return Object.entries(properties as Record<string, Record<string, unknown> | null>)
    .slice(0, FIELDS_MAX)
    .map(([name, schema]) => [name, schema ?? {}]);
}

const MEMORY_NAME =
  /memor|remember|recall|forget|user_?(?:facts?|preferences?)|knowledge_?graph|(?:add|create|read|search|open|delete)_?(?:entit|observation|relation|nodes?\b|graph)|(?:save|store|add|get|list|search|find|update|delete|read|write|append)_?(?:notes?|facts?|preferences?)\b/i;
/** Looked for first, since the sentence takes longer to find. */
const MEMORY_WORDS = /memor|user|person|customer|conversation|knowledge|long-term|session|past/i;
const MEMORY_DOES =
  /\b(?:stor\w+|sav\w+|record\w*|remember\w*|persist\w*|keep\w*|recall\w*|look\w* up|retriev\w+|updat\w+|delet\w+|remov\w+|add\w*|append\w*|search\w*|read\w*|list\w*|forget\w*)\b[^.]{0,60}\b(?:memor(?:y|ies)|(?:facts?|notes?|details|information|anything|things?|what) (?:about|on|of|from|for|the) (?:the |this |a )?(?:user|person|customer|conversation)|user'?s? (?:facts?|preferences?|profile|details|notes?)|knowledge graph|long-term|past (?:conversations?|sessions?|messages)|earlier (?:conversations?|sessions?)|conversation history)/i;

/** Stores or looks up what is known of the user. */
export function isMemoryTool({ name, description }: Tool): boolean {
  if (MEMORY_NAME.test(name.slice(0, NAME_CHARS))) return true;
  const text = description.slice(0, DESCRIPTION_CHARS);
  return MEMORY_WORDS.test(text) && MEMORY_DOES.test(text);
}

const WEB_NAME =
  /web|internet|brows|google|bing|search_?engine|duckduckgo|ddg|tavily|serp|brave_?search|perplexity|wikipedia|fetch_?(?:url|page|site)|(?:read|open|visit|get|load)_?(?:url|page|site|link)|scrape|crawl|news/i;
const WEB_WORDS = /web|internet|online|google|bing|wikipedia|news|url|link|search engine/i;
const WEB_DOES =
  /\b(?:search\w*|look\w* up|find\w*|quer\w+|brows\w+)\b[^.]{0,40}\b(?:web|internet|online|google|bing|wikipedia|news)\b|\bweb ?search|search engine|\bweb ?(?:pages?|sites?)\b|\b(?:fetch\w*|read\w*|load\w*|open\w*|visit\w*|download\w*|scrap\w+|crawl\w*|extract\w*)\b[^.]{0,40}\b(?:urls?|web|links?)\b/i;
const SEARCH_NAME =
  /^(?:[a-z]{2,10}[_-]?)?(?:search|lookup|look_up|ask|retrieve)(?:[_-]?(?:tool|results?|json|query|online|information|info|general|topics?|facts?))*$/i;
const SEARCH_FIELDS =
  /^(?:q|query|queries|question|keywords?|terms?|search_?(?:query|terms?)|topic|num_?results?|max_?results?|limit|count|top_?k|lang(?:uage)?|region|country|time_?range|recency|site|page|url|safe_?search|source)$/i;
/** A search of these looks into something of the asker's own. */
const OWN_PLACE =
  /\b(?:database|internal|company|knowledge ?base|files?|folders?|repositor\w+|codebase|products?|catalog\w*|store|shop|inventory|e?mails?|inbox|calendar|contacts?|customers?|orders?|tickets?|flights?|hotels?|restaurants?|movies?|songs?|music|recipes?|books?|jobs?|properties|cars?|images?|documents?|vector)\b/i;

/** Searches the web, or reads a page by its address. */
export function isWebTool(tool: Tool): boolean {
  const name = tool.name.slice(0, NAME_CHARS);
  const description = tool.description.slice(0, DESCRIPTION_CHARS);
  const isNamed = WEB_NAME.test(name);
  const isSaid = WEB_WORDS.test(description);
  if (!isNamed && !(isSaid && WEB_DOES.test(description)) && !isPlainSearch(tool)) return false;
  return isSaid || !OWN_PLACE.test(description);
}

/** Takes a query and little else. */
function isPlainSearch(tool: Tool): boolean {
  if (!SEARCH_NAME.test(tool.name.slice(0, NAME_CHARS))) return false;
  const fields = fieldsOf(tool);
  return fields.length > 0 && fields.every(([field]) => SEARCH_FIELDS.test(field));
}

const UNIVERSAL_NAME =
  /^(?:.*[._-])?(?:run|exec(?:ute)?|bash|shell|sh|terminal|command|cmd|python|code|sql|query|request|http|curl|api|requests?|answer|respond|reply|chat|ask|get|post|eval|interpreter|main|process|handle)(?:[._-].*)?$/i;
const UNIVERSAL_FIELD =
  /^(?:command|cmd|code|script|sql(?:_\w+)?|statement|url|uri|endpoint|body|payload|input|prompt|message|expression|request|args|query)$/i;

/** Takes a command, a request or a question of any kind, so that it shares no word with what is asked. */
export function isUniversalTool(tool: Tool): boolean {
  if (!UNIVERSAL_NAME.test(tool.name.slice(0, NAME_CHARS))) return false;
  return fieldsOf(tool).some(([field]) => UNIVERSAL_FIELD.test(field));
}
