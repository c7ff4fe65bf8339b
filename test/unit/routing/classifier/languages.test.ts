// Classes of mistakes outside English and beside the usual forms. The prompts were written before the weights were asked, so
// a few may be wrong: what is held is how many are right.

import { expect, it } from "vitest";
import { readWeights } from "../../../../src/catalog/weights.ts";
import type { Category } from "../../../../src/core/decision.ts";
import { classify } from "../../../../src/routing/classifier/classify.ts";
import { readPrompt } from "../../../../src/routing/classifier/signals.ts";

const weights = readWeights();

interface Case {
  readonly title: string;
  readonly category: Category;
  readonly least: number;
  readonly prompts: readonly string[];
}

const CASES: readonly Case[] = [
  {
    title: "stories and poems in Chinese, Japanese and Korean",
    category: "creative_writing",
    least: 11,
    prompts: [
      "写一首关于秋天落叶的诗",
      "请以一只流浪猫的视角写一个短篇故事",
      "帮我续写这个故事:深夜,他推开了那扇从未打开过的门",
      "写一段两个老朋友在车站告别的对话",
      "为我的奇幻小说设计一个女主角",
      "雨の日の喫茶店を舞台にした短い物語を書いてください",
      "猫になった少年の話を書いて",
      "春をテーマに俳句を三つ作って",
      "魔法使いと竜が出会う場面を描写してください",
      "가을 바다를 주제로 시를 써 줘",
      "시간을 멈출 수 있는 소녀에 대한 짧은 이야기를 써 주세요",
      "두 형제가 다투는 장면을 소설처럼 묘사해 줘",
    ],
  },
  {
    title: "puzzles and causes in Chinese, Japanese and Korean",
    category: "reasoning",
    least: 9,
    prompts: [
      "小明比小红高,小红比小刚高,小刚比小丽高,谁最矮?请说明推理过程",
      "三个盒子标签全贴错了,只能从一个盒子里取一个球,怎样确定每个盒子里是什么?",
      "如果所有的A都是B,有些B是C,能推出有些A是C吗?",
      "为什么城市里房价上涨会影响生育率?请分析原因",
      "比较远程办公和坐班的利弊,并给出你的判断",
      "AさんはBさんより早く着き、CさんはDさんより遅く着いた。DさんはAさんより早い。最後に着いたのは誰か、理由も説明して",
      "5人のうち1人だけが嘘をついている。誰が嘘つきか推理して",
      "なぜ円安になると輸出企業の利益が増えるのか、段階を追って説明して",
      "세 명 중 한 명만 진실을 말한다. 누가 진실을 말하는지 논리적으로 설명해 줘",
      "원격 근무의 장단점을 비교하고 어떤 회사에 맞는지 분석해 줘",
      "왜 금리가 오르면 채권 가격이 떨어지는지 논리적으로 설명해 줘",
    ],
  },
  {
    title: "creative work with a long brief",
    category: "creative_writing",
    least: 9,
    prompts: [
      "Write a scene of about 1,500 words for my novel. Mara, a retired locksmith of 62, comes home to find her late husband's safe open. She has kept the combination secret for nine years. The tone should be quiet and uneasy, in close third person, past tense. Mention the smell of machine oil, the neighbour's radio, and a letter that we do not get to read. End before she calls anyone.",
      "You are the dungeon master. My party has just entered the flooded library: a cleric, a rogue with a broken arm, and a bard who lies about everything. Describe what we see, voice the librarian's ghost, and keep the stakes rising. Stay in character.",
      "Continue the story from here in the same voice: 'The ferry was late again, and Ines had already given away the only coat she owned.' The captain should appear, and the reader should learn why she cannot go back. At least six paragraphs.",
      "Let's role-play. You are a grumpy lighthouse keeper in 1890 who has not spoken to anyone in four months. I row up in a storm with a crate I refuse to open. Answer in the first person and never break character.",
      "I need a bedtime story for twins aged five. It should have a hedgehog who is afraid of the dark, a moon that forgets her job, three repetitions of a small song, and a calm ending. Around ten minutes read aloud. No villains.",
      "Write a fan fiction chapter in which the detective and the thief are stuck in an elevator for six hours. Background: they were childhood friends, she believes he died, he knows she became a detective because of him. Slow burn, lots of dialogue, humour in the first half, silence in the second.",
      "Draft the opening of a radio play set on a space station where everybody has started to dream the same dream. Four characters: Ada (engineer), Piet (cook), Lin (doctor), and the station's voice. Sound effects in brackets. Leave the cause open.",
      "Write lyrics for a folk ballad about a miner's daughter who becomes a geologist. Five verses and a chorus, rhyme ABCB, with place names from the Pyrenees, and the last verse mirrors the first.",
      "Compose a poem cycle of four parts, one for each season, about my grandmother's kitchen. She came from Odessa, she hummed while kneading, the window faced the tracks. Free verse, no clichés about time.",
      "Here is my outline: a city where memories are taxed; a collector who falls behind on his own payments; a girl who sells forged childhoods. Turn it into the first chapter of a novel, about 2,000 words, noir style, present tense.",
      "Imagine a letter from the last whale to the first submarine. Make it tender and a little angry, with details from the deep sea, around 600 words, and do not mention climate change by name.",
    ],
  },
  {
    title: "facts that are numbers",
    category: "simple_qa",
    least: 12,
    prompts: [
      "How many bones does an adult human have?",
      "how many countries are in the African Union",
      "How many strings does a cello have?",
      "How many moons does Jupiter have?",
      "What year did the Berlin Wall fall?",
      "How many people died in the Titanic disaster?",
      "How many teeth does a shark have?",
      "How tall is the Burj Khalifa?",
      "How many languages are spoken in Papua New Guinea?",
      "How many goals did Pelé score in World Cups?",
      "How many chambers are in a cow's stomach?",
      "Wie viele Bundesländer hat Österreich?",
      "Combien de joueurs y a-t-il dans une équipe de rugby ?",
    ],
  },
  {
    title: "questions about the bot outside English",
    category: "chitchat",
    least: 19,
    prompts: [
      "¿Cómo te llamas?",
      "¿Eres un robot o una persona?",
      "Wer hat dich programmiert?",
      "Hast du Gefühle?",
      "Quel âge as-tu ?",
      "Tu peux rêver ?",
      "Chi sei?",
      "Ti piace parlare con me?",
      "Você é humano?",
      "Как тебя зовут?",
      "Ты робот?",
      "你叫什么名字?",
      "你是机器人吗?",
      "あなたは誰ですか?",
      "あなたは人間ですか?",
      "넌 이름이 뭐야?",
      "너 로봇이야?",
      "Adın ne?",
      "Sen bir robot musun?",
      "Siapa namamu?",
    ],
  },
];

it.each(CASES)("$title", ({ category, least, prompts }) => {
  const right = prompts.filter((prompt) => classify(readPrompt(prompt), weights).category === category);
  expect(right.length).toBeGreaterThanOrEqual(least);
});
