import { t as _plugin_vue_export_helper_default } from "./plugin-vue_export-helper.DjkACiAr.js";
import { resolveComponent, useSSRContext } from "vue";
import { ssrRenderAttrs, ssrRenderComponent } from "vue/server-renderer";
// docs/reference/api.md
var __pageData = JSON.parse("{\"title\":\"API reference\",\"description\":\"\",\"frontmatter\":{\"layout\":\"page\",\"sidebar\":true},\"headers\":[],\"relativePath\":\"reference/api.md\",\"filePath\":\"reference/api.md\"}");
var _sfc_main = { name: "reference/api.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
	const _component_ApiReference = resolveComponent("ApiReference");
	_push(`<div${ssrRenderAttrs(_attrs)}>`);
	_push(ssrRenderComponent(_component_ApiReference, null, null, _parent));
	_push(`<div id="api-reference"><h1 id="api-reference" tabindex="-1">API reference <a class="header-anchor" href="#api-reference" aria-label="Permalink to “API reference”">​</a></h1><p>A running gateway shows every endpoint with its fields, examples and a form to try it at <code>/docs/reference/api</code>. The same contract for programs is at <code>/openapi.json</code>.</p></div></div>`);
}
var _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
	const ssrContext = useSSRContext();
	(ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("reference/api.md");
	return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
var api_default = /*#__PURE__*/ _plugin_vue_export_helper_default(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export { __pageData, api_default as default };
