import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// docs/guides/codex.md
var __pageData = JSON.parse("{\"title\":\"Codex\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"guides/codex.md\",\"filePath\":\"guides/codex.md\"}");
var _sfc_main = { name: "guides/codex.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="codex" tabindex="-1">Codex <a class="header-anchor" href="#codex" aria-label="Permalink to “Codex”">​</a></h1><p>Codex works with Switchyard through the Responses API. It keeps its own tools, approvals and sandbox. Switchyard chooses the model for each turn.</p><h2 id="set-up" tabindex="-1">Set up <a class="header-anchor" href="#set-up" aria-label="Permalink to “Set up”">​</a></h2><p>Add a provider to <code>~/.codex/config.toml</code>:</p><div class="language-toml"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">toml</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span>model = </span><span class="code-string">&quot;auto&quot;</span></span>
<span class="line"><span>model_provider = </span><span class="code-string">&quot;switchyard&quot;</span></span>
<span class="line"></span>
<span class="line"><span>[</span><span class="code-name">model_providers</span><span>.</span><span class="code-name">switchyard</span><span>]</span></span>
<span class="line"><span>name = </span><span class="code-string">&quot;Switchyard&quot;</span></span>
<span class="line"><span>base_url = </span><span class="code-string">&quot;http://127.0.0.1:8787/v1&quot;</span></span>
<span class="line"><span>env_key = </span><span class="code-string">&quot;SWITCHYARD_KEY&quot;</span></span>
<span class="line"><span>wire_api = </span><span class="code-string">&quot;responses&quot;</span></span></code></pre></div><p>Then start it with your key:</p><div class="language-sh"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">sh</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span class="code-keyword">export</span><span> SWITCHYARD_KEY</span><span class="code-keyword">=</span><span>sk-service-…</span></span>
<span class="line"><span class="code-name">codex</span></span></code></pre></div><h2 id="good-to-know" tabindex="-1">Good to know <a class="header-anchor" href="#good-to-know" aria-label="Permalink to “Good to know”">​</a></h2><ul><li>Codex sends a <code>web_search</code> tool with every request. Models of other vendors cannot run it, so it is dropped, and the request log says so.</li><li><code>apply_patch</code> is a custom tool. Models of other vendors call it as a function with one text argument, and Codex gets the text.</li><li>Codex may send <code>service_tier</code>. Switchyard ignores it.</li><li>Without credits, requests get 402. Codex tries five more times, for about 8 seconds, and then shows the reason. Add credits, or set <code>billing.mode: metered</code>.</li><li>Codex warns that it has no metadata for the model <code>auto</code>, and assumes usual values. You can ignore that.</li><li>To pin a model, create a key with a profile that allows only that model.</li></ul><p>Tried with Codex 0.166.0 on 16 November 2026: it read and edited a file over three turns, on models of every provider format (<code>npm run test:clients</code>).</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("guides/codex.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var codex_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, codex_default as default };
