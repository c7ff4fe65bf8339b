// docs/images/overview.png
var overview_default = "/docs/assets/overview.DSHa2N8x.png";
export { overview_default as t };
