// Regions in which requests may be answered: names of places, and the places inside which they lie.

/** The member states, by their codes in ISO 3166. */
const EU = new Set("at be bg cy cz de dk ee es fi fr gr hr hu ie it lt lu lv mt nl pl pt ro se si sk".split(" "));

/** Countries of cloud regions whose name does not begin with that of their country. */
const COUNTRIES: Readonly<Record<string, string>> = {
  "eu-central-1": "de",
  "eu-central-2": "ch",
  "eu-north-1": "se",
  "eu-south-1": "it",
  "eu-south-2": "es",
  "eu-west-1": "ie",
  "eu-west-2": "gb",
  "eu-west-3": "fr",
  "ca-central-1": "ca",
  "ca-west-1": "ca",
  "ap-northeast-1": "jp",
  "ap-northeast-2": "kr",
  "ap-northeast-3": "jp",
  "ap-south-1": "in",
  "ap-south-2": "in",
  "ap-southeast-1": "sg",
  "ap-southeast-2": "au",
  "ap-southeast-4": "au",
  "sa-east-1": "br",
  "europe-central2": "pl",
  "europe-north1": "fi",
  "europe-north2": "se",
  "europe-southwest1": "es",
  "europe-west1": "be",
  "europe-west2": "gb",
  "europe-west3": "de",
  "europe-west4": "nl",
  "europe-west6": "ch",
  "europe-west8": "it",
  "europe-west9": "fr",
  "europe-west10": "de",
  "europe-west12": "it",
  "northamerica-northeast1": "ca",
  "northamerica-northeast2": "ca",
  "asia-northeast1": "jp",
  "asia-northeast3": "kr",
  "asia-south1": "in",
  "asia-southeast1": "sg",
  "australia-southeast1": "au",
  "southamerica-east1": "br",
  francecentral: "fr",
  germanywestcentral: "de",
  italynorth: "it",
  northeurope: "ie",
  norwayeast: "no",
  polandcentral: "pl",
  spaincentral: "es",
  swedencentral: "se",
  switzerlandnorth: "ch",
  uksouth: "gb",
  westeurope: "nl",
  australiaeast: "au",
  canadaeast: "ca",
  japaneast: "jp",
  southindia: "in",
  centralus: "us",
  eastus: "us",
  eastus2: "us",
  northcentralus: "us",
  southcentralus: "us",
  westus: "us",
  westus3: "us",
};

/** Cloud regions of one country whose names begin alike. */
const AMERICAN = /^us-(?:gov-)?(?:central|east|north|south|west)/;

/** Tells whether all of a region lies inside a place. What is not known lies in itself alone. */
export function liesIn(region: string, place: string): boolean {
  const [inner, outer] = [region.toLowerCase(), place.toLowerCase()];
  const country = AMERICAN.test(inner) ? "us" : (COUNTRIES[inner] ?? inner);
  return inner === outer || country === outer || (outer === "eu" && EU.has(country));
}
