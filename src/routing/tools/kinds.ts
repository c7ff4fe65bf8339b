// Kinds of tools, told by what they do rather than by their names: stores of what the user said, searches of the web, and
// universal tools that take any request. Reads a bounded part of each definition.

import type { Tool } from "../../core/chat.ts";
import { splitName } from "./concepts.ts";

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
  /memor|remember|\brecall|_recall|forget|user_?(?:facts?|preferences?)|knowledge_?graph|(?:^|_)(?:add|create|read|search|open|delete)_?(?:entit|observation|relation|nodes?\b|graph(?![a-z]))|(?:save|store|add|get|list|search|find|update|delete|read|write|append)_?(?:notes?|facts?|preferences?)\b/i;
/** Looked for first in a name, since few have it. */
const MEMORY_HINT = /mem|rec|forg|fact|prefer|graph|entit|observ|relat|node|note/i;
/** Memory of a machine. */
const OTHER_MEMORY =
  /\b(?:hardware|operating system|computer|ram|bytes|fpga|allocat\w+|heap)\b|memory_?(?:usage|size|type|test|leak|compat|network)/i;
/** Looked for first, since the sentence takes longer to find. */
const MEMORY_WORDS = /memor|user|person|customer|conversation|knowledge|long-term|session|past/i;
const MEMORY_DOES =
  /\b(?:stor\w+|sav\w+|record\w*|remember\w*|persist\w*|keep\w*|recall\w*|look\w* up|retriev\w+|updat\w+|delet\w+|remov\w+|add\w*|append\w*|search\w*|read\w*|list\w*|forget\w*)\b(?:(?!\b(?:based|accord|back|using)\b)[^.]){0,60}\b(?:memor(?:y|ies)\b|(?:facts?|notes?|details|information|anything|things?|what) (?:about|on|of|from|for|the) (?:the |this |a )?(?:user|(?<!a )person|customer|conversation)\b(?! (?:interface|service|support))|user'?s? (?:facts?|preferences?|details|notes?)|user'?s profile|profile of the user|knowledge graph|long-term (?:memory|profile|storage)|past (?:conversations?|sessions?|messages)|earlier (?:conversations?|sessions?)|conversation history)/i;

/** Stores or looks up what is known of the user. */
export function isMemoryTool({ name, description }: Tool): boolean {
  const text = description.slice(0, DESCRIPTION_CHARS);
  const isNamed = MEMORY_HINT.test(name.slice(0, NAME_CHARS)) && MEMORY_NAME.test(splitName(name).join("_"));
  const isKind = isNamed || (MEMORY_WORDS.test(text) && MEMORY_DOES.test(text));
  return isKind && !OTHER_MEMORY.test(name.slice(0, NAME_CHARS)) && !OTHER_MEMORY.test(text);
}

/** A name in words, such as "web search" or "read url". A site, a newspaper or a link alone is nothing to search. */
const WEB_NAME =
  /\b(?:(?:web|internet|online) ?(?:search\w*|brows\w+|lookup|crawl\w*|scrap\w+|fetch\w*|requests?|pilot|access)|(?:search|browse|surf|crawl|scrape|query|access)(?: (?:the|on|in|with|for))? ?(?:web(?: ?pages?| ?sites?)?|internet|online)|browser|google(?: search)?|bing(?: search)?|search ?engine|duckduckgo|ddg|tavily|serp(?:er|api)?|brave(?: search)?|perplexity|wikipedia|(?:fetch|read|open|visit|load|browse|scrape) (?:urls?|(?:web )?pages?|(?:web )?sites?|links?|url content))\b(?! (?:size|window|type|market|rank|ads))/i;
const WEB_HINT =
  /web|net|online|brow|surf|google|bing|engine|duck|ddg|tavily|serp|brave|perplex|wiki|url|page|site|link/i;
const WEB_WORDS = /web|internet|online|google|bing|wikipedia|url|link|search engine/i;
const WEB_DOES =
  /\b(?:search\w*|look\w* up|brows\w+|quer(?:y|ies)|crawl\w*|scrap\w+)\b(?: \S+){0,4} (?:the |whole )?(?:web\b(?! ?(?:server|host|app|traffic))|internet|webpages?|web ?pages?|google\b(?! ?(?:books|drive|maps|ads))|bing|wikipedia)|\bweb ?search|\binternet search|\b(?:a|an|our|the|meta|custom\w*|web|your) search engines?\b(?! (?:market|rank|optim|result))|\bweb browser\b|\b(?:fetch\w*|read\w*|load\w*|open\w*|visit\w*|download\w*|scrap\w+|crawl\w*|extract\w*|access\w*|summari\w+|retriev\w+)\b(?: \S+){0,4} (?:urls?|web ?pages?)\b/i;
const SEARCH_NAME =
  /^(?:[a-z]{2,10}[_-]?)?(?:search|lookup|look_up|ask|retrieve)(?:[_-]?(?:tool|results?|json|query|online|information|info|general|topics?|facts?))*$/i;
const SEARCH_FIELDS =
  /^(?:q|query|queries|question|keywords?|terms?|search_?(?:query|terms?)|topic|num_?results?|max_?results?|limit|count|top_?k|lang(?:uage)?|region|country|time_?range|recency|site|page|url|safe_?search|source)$/i;
/** A search of these looks into something of the asker's own. */
const OWN_PLACE =
  /\b(?:database|internal|company|knowledge ?base|files?|folders?|repositor\w+|codebase|products?|catalog\w*|store|shop|inventory|e?mails?|inbox|calendar|contacts?|customers?|orders?|tickets?|flights?|hotels?|restaurants?|movies?|songs?|music|recipes?|books?|jobs?|properties|cars?|images?|documents?|vector)\b/i;

/** Searches the web, or reads a page by its address. */
export function isWebTool(tool: Tool): boolean {
  const description = tool.description.slice(0, DESCRIPTION_CHARS);
  if (WEB_WORDS.test(description) && WEB_DOES.test(description)) return true;
  const isNamed = WEB_HINT.test(tool.name.slice(0, NAME_CHARS)) && WEB_NAME.test(splitName(tool.name).join(" "));
  return (isNamed || isPlainSearch(tool)) && !OWN_PLACE.test(description);
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
