import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { useSSRContext } from "vue";
import { ssrRenderAttrs } from "vue/server-renderer";
// docs/guides/opencode.md
var __pageData = JSON.parse("{\"title\":\"opencode\",\"description\":\"\",\"frontmatter\":{},\"headers\":[],\"relativePath\":\"guides/opencode.md\",\"filePath\":\"guides/opencode.md\"}");
var _sfc_main = { name: "guides/opencode.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	_push(`<div${ssrRenderAttrs(_attrs)}><h1 id="opencode" tabindex="-1">opencode <a class="header-anchor" href="#opencode" aria-label="Permalink to “opencode”">​</a></h1><p>opencode reaches Switchyard through its OpenAI-compatible provider. Streaming, tools and error messages work.</p><h2 id="set-up" tabindex="-1">Set up <a class="header-anchor" href="#set-up" aria-label="Permalink to “Set up”">​</a></h2><p>Connect at least one <a href="./../start/providers">provider</a> first. The sandbox only simulates answers, which an agent cannot use.</p><p>Add this to <code>opencode.json</code> in your project, or to <code>~/.config/opencode/opencode.json</code>:</p><div class="language-json"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">json</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span>{</span></span>
<span class="line"><span class="code-name">  &quot;\$schema&quot;</span><span>: </span><span class="code-string">&quot;https://opencode.ai/config.json&quot;</span><span>,</span></span>
<span class="line"><span class="code-name">  &quot;provider&quot;</span><span>: {</span></span>
<span class="line"><span class="code-name">    &quot;switchyard&quot;</span><span>: {</span></span>
<span class="line"><span class="code-name">      &quot;npm&quot;</span><span>: </span><span class="code-string">&quot;@ai-sdk/openai-compatible&quot;</span><span>,</span></span>
<span class="line"><span class="code-name">      &quot;name&quot;</span><span>: </span><span class="code-string">&quot;Switchyard&quot;</span><span>,</span></span>
<span class="line"><span class="code-name">      &quot;options&quot;</span><span>: {</span></span>
<span class="line"><span class="code-name">        &quot;baseURL&quot;</span><span>: </span><span class="code-string">&quot;http://127.0.0.1:8787/v1&quot;</span><span>,</span></span>
<span class="line"><span class="code-name">        &quot;apiKey&quot;</span><span>: </span><span class="code-string">&quot;{env:SWITCHYARD_KEY}&quot;</span></span>
<span class="line"><span>      },</span></span>
<span class="line"><span class="code-name">      &quot;models&quot;</span><span>: { </span><span class="code-name">&quot;auto&quot;</span><span>: { </span><span class="code-name">&quot;name&quot;</span><span>: </span><span class="code-string">&quot;Switchyard auto&quot;</span><span> } }</span></span>
<span class="line"><span>    }</span></span>
<span class="line"><span>  }</span></span>
<span class="line"><span>}</span></span></code></pre></div><div class="language-sh"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">sh</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span class="code-keyword">export</span><span> SWITCHYARD_KEY</span><span class="code-keyword">=</span><span>sk-service-…</span></span>
<span class="line"><span class="code-name">opencode</span><span class="code-string"> run</span><span class="code-value"> -m</span><span class="code-string"> switchyard/auto</span><span class="code-string"> &quot;What does this project do?&quot;</span></span></code></pre></div><h2 id="steer-it" tabindex="-1">Steer it <a class="header-anchor" href="#steer-it" aria-label="Permalink to “Steer it”">​</a></h2><p>Put a profile on the key:</p><div class="language-sh"><button title="Copy code" data-copied="Copied" class="copy"></button><span class="lang">sh</span><pre class="shiki switchyard" tabindex="0" dir="ltr"><code><span class="line"><span class="code-name">switchyard</span><span class="code-string"> profiles</span><span class="code-string"> set</span><span class="code-string"> coding</span><span class="code-value"> --floor</span><span class="code-string"> LIGHT</span><span class="code-value"> --code-quality</span><span class="code-value"> 2</span></span>
<span class="line"><span class="code-name">switchyard</span><span class="code-string"> keys</span><span class="code-string"> create</span><span class="code-value"> --name</span><span class="code-string"> opencode</span><span class="code-value"> --profile</span><span class="code-string"> coding</span></span></code></pre></div><p>The second command prints a new key for <code>SWITCHYARD_KEY</code>. In a clone, type <code>npm start --</code> instead of <code>switchyard</code>.</p><p>To use certain models only, name them in the profile: <code>--allow claude-sonnet-5,gpt-5.4</code>.</p><p>Tried with opencode 1.18.33 on 15 November 2026: plain and streamed answers, shell calls, file edits, and the errors 401, 402 and 429.</p></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("guides/opencode.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var opencode_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, opencode_default as default };
