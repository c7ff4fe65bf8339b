import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// docs/concepts/outcomes.md
var __pageData = JSON.parse("{\"title\":\"Outcomes\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"concepts/outcomes.md\",\"filePath\":\"concepts/outcomes.md\"}");
var _sfc_main = { name: "concepts/outcomes.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="outcomes" tabindex="-1">Outcomes <a class="header-anchor" href="#outcomes" aria-label="Permalink to “Outcomes”">​</a></h1><p>A router saves money only if the cheaper answers are good enough. This page shows how to find out on your own traffic.</p><h2 id="feedback" tabindex="-1">Feedback <a class="header-anchor" href="#feedback" aria-label="Permalink to “Feedback”">​</a></h2><p>Your application often knows whether an answer was right: a test passed, a user clicked, a parser failed. Send that to <code>POST /v1/feedback</code> with the API key that you call models with.</p><div class="language-sh"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">sh</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span class="code-name">curl</span><span class="code-string"> http://127.0.0.1:8787/v1/feedback \\</span></span>
<span class="line"><span class="code-value">  -H</span><span class="code-string"> &quot;Authorization: Bearer </span><span class="code-value">\$SWITCHYARD_KEY</span><span class="code-string">&quot;</span><span class="code-value"> -H</span><span class="code-string"> &quot;Content-Type: application/json&quot;</span><span class="code-value"> \\</span></span>
<span class="line"><span class="code-value">  -d</span><span class="code-string"> &#39;{&quot;request_id&quot;: &quot;req_5f0c1a2b3c4d5e6f70819203&quot;, &quot;score&quot;: 0, &quot;comment&quot;: &quot;the test failed&quot;}&#39;</span></span></code></pre></div><table tabindex="0"><thead><tr><th>field</th><th>meaning</th></tr></thead><tbody><tr><td><code>request_id</code></td><td>the <code>X-Request-Id</code> of the answer</td></tr><tr><td><code>score</code></td><td>from 0 (useless) to 1 (right); thumbs down and up are 0 and 1</td></tr><tr><td><code>tier</code></td><td>the tier that the request should have had</td></tr><tr><td><code>comment</code></td><td>for people, up to 1,000 characters</td></tr></tbody></table><p><code>score</code> or <code>tier</code> is required. A second call for the same request replaces the first. The call counts against the rate limit and costs nothing. An id that your account does not have gets 404.</p><p>With the OpenAI client:</p><div class="language-ts"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">ts</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span class="code-keyword">import OpenAI from &quot;openai&quot;;</span></span>
<span class="line"></span>
<span class="line"><span>const client = new OpenAI({ baseURL: &quot;http://127.0.0.1:8787/v1&quot;, apiKey: process.env.SWITCHYARD_KEY });</span></span>
<span class="line"><span class="code-keyword">const answer = await client.chat.completions.create({</span></span>
<span class="line"><span class="code-name">  model</span><span>: </span><span class="code-string">&quot;auto&quot;</span><span>,</span></span>
<span class="line"><span class="code-name">  messages</span><span>: [{ </span><span class="code-name">role:</span><span class="code-string"> &quot;user&quot;, content: &quot;Reply with the capital of France, one word.&quot; }],</span></span>
<span class="line"><span class="code-string">});</span></span>
<span class="line"><span>const isRight </span><span class="code-keyword">=</span><span> answer.choices[0].message.content === &quot;Paris&quot;;</span></span>
<span class="line"><span class="code-keyword">await</span><span> client.</span><span class="code-name">post</span><span>(</span><span class="code-string">&quot;/feedback&quot;, { body: { request_id: answer._request_id, score: isRight ? 1 : 0 } });</span></span></code></pre></div><p>The request in the dashboard and <code>GET /api/requests/{id}</code> show it as <code>appFeedback</code>, beside the mark that a person sets. For <a href="./../contribute/routing-experiments#feedback">training</a>, a person&#39;s tier counts before an application&#39;s.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("concepts/outcomes.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var outcomes_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, outcomes_default as default };
