// docs/images/overview.png
var overview_default = "/docs/assets/overview.DSiDa6fz.png";
export { overview_default as t };
