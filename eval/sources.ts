// The public sets that training and evaluation know: their licences, whether the shipped weights may learn from them
// (`isShippable`), and which of them share prompts (`family`), so that a family is always left out as a whole.

/** A set of rows, its licence and its use. */
export interface Source {
  readonly name: string;
  readonly family: string;
  readonly origin: string;
  readonly licence: string;
  readonly isShippable: boolean;
}

const ROWS: readonly (readonly [name: string, family: string, origin: string, licence: string, ship: boolean])[] = [
  ["p3-t0", "p3", "yizhongw/self-instruct", "Apache-2.0", true],
  ["gsm8k-train", "gsm8k", "openai/grade-school-math", "MIT", true],
  ["math-levels", "math", "ZubinGou/math-evaluation-harness", "MIT", true],
  ["humaneval", "humaneval", "openai/human-eval", "MIT", true],
  ["mbpp-train", "mbpp", "OckBench/OckBench", "MIT, MBPP CC BY 4.0", true],
  ["spider-dev", "spider", "taoyds/spider", "Apache-2.0, data CC BY-SA 4.0", true],
  ["bbh", "bbh", "suzgunmirac/BIG-Bench-Hard", "MIT", true],
  ["clinc150", "clinc", "clinc/oos-eval", "CC BY 3.0", true],
  ["belle-eval-zh", "belle", "LianjiaTech/BELLE", "ODC-By 1.0", true],
  ["xquad-dev", "xquad", "google-deepmind/xquad", "CC BY-SA 4.0", true],
  ["xquad-translate", "xquad", "google-deepmind/xquad", "CC BY-SA 4.0", true],
  ["chatterbot-dev", "chatterbot", "gunthercox/chatterbot-corpus", "BSD-3-Clause", true],
  ["mmlu-pro", "mmlu-pro", "TIGER-AI-Lab/MMLU-Pro", "Apache-2.0, dataset MIT", true],
  ["zeroeval-math-l5", "math", "WildEval/ZeroEval", "Apache-2.0", true],
  ["zeroeval-crux", "crux", "WildEval/ZeroEval", "Apache-2.0", true],
  ["uncommon-tiers", "uncommon", "CommonstackAI/UncommonRoute", "MIT", true],
  ["autoj-train", "autoj", "GAIR-NLP/auto-j", "none stated", false],
  ["stack-eval", "stack-eval", "ProsusAI/stack-eval", "none stated", false],
  ["mixeval-triviaqa", "triviaqa", "Psycoy/MixEval", "none stated", false],
  ["flask-dev", "flask", "kaistAI/FLASK", "none stated", false],
  ["routerdc-gsm8k-train", "gsm8k", "shuhao02/RouterDC", "none stated", false],
  ["routerdc-arc-c", "arc", "shuhao02/RouterDC", "none stated", false],
  ["routerdc-arc-e", "arc", "shuhao02/RouterDC", "none stated", false],
  ["routerdc-cmmlu-zh", "cmmlu", "shuhao02/RouterDC", "none stated", false],
  ["routerdc-mbpp", "mbpp", "shuhao02/RouterDC", "none stated", false],
  ["routerdc-humaneval-js", "humaneval", "shuhao02/RouterDC", "none stated", false],
  ["routerbench-arc", "arc", "shuhao02/RouterDC", "none stated", false],
  ["routerbench-winogrande", "winogrande", "shuhao02/RouterDC", "none stated", false],
  ["routerbench-mbpp", "mbpp", "shuhao02/RouterDC", "none stated", false],
  ["acebench-en", "acebench", "chenchen0103/ACEBench", "MIT", true],
  ["acebench-zh", "acebench", "chenchen0103/ACEBench", "MIT", true],
  ["seal-tools", "seal-tools", "fairyshine/Seal-Tools", "Apache-2.0", true],
  ["tool-alpaca", "tool-alpaca", "tangqiaoyu/ToolAlpaca", "Apache-2.0", true],
  ["metatool", "metatool", "HowieHwong/MetaTool", "MIT", true],
  ["ultratool-en", "ultratool", "JoeYing1019/UltraTool", "none stated", false],
  ["ultratool-zh", "ultratool", "JoeYing1019/UltraTool", "none stated", false],
];

const BFCL_ORIGIN = "ShishirPatil/gorilla";

const SOURCES: readonly Source[] = ROWS.map(([name, family, origin, licence, isShippable]) => ({
  name,
  family,
  origin,
  licence,
  isShippable,
}));

/** A source nobody has read the licence of is measured with, never learned from. */
export function sourceOf(name: string): Source {
  const known = SOURCES.find((source) => source.name === name);
  if (known !== undefined) return known;
  if (name.startsWith("own-")) return { name, family: name, origin: "this project", licence: "MIT", isShippable: true };
  if (name.startsWith("bfcl-"))
    return { name, family: name, origin: BFCL_ORIGIN, licence: "Apache-2.0", isShippable: true };
  return { name, family: name, origin: "unknown", licence: "unknown", isShippable: false };
}
