// Evidence that a conversation goes wrong: what raises the tier, by how much, and what only looks like it.

import { describe, expect, it } from "vitest";
import { type ChatMessage, withUnread } from "../../../../src/core/chat.ts";
import type { EscalationPolicy, SessionTurn } from "../../../../src/core/session.ts";
import { newestAsk } from "../../../../src/routing/ask.ts";
import { isComplaint } from "../../../../src/routing/sessions/complaint.ts";
import { findEscalation } from "../../../../src/routing/sessions/evidence.ts";
import { isFailure } from "../../../../src/routing/sessions/failure.ts";

const ask: ChatMessage = { role: "user", content: "Fix the failing test in src/parser.ts" };
const says = (content: string): ChatMessage => ({ role: "user", content });
const answers = (content: string): ChatMessage => ({ role: "assistant", content });
let made = 0;
const step = (name: string, args: object, result: string): readonly ChatMessage[] => {
  made += 1;
  const id = `call_${made}`;
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: result },
  ];
};

interface Options {
  readonly policy?: EscalationPolicy;
  readonly isFollowUp?: boolean;
  readonly last?: SessionTurn | null;
}

function evidence(
  messages: readonly ChatMessage[],
  { policy = "normal", isFollowUp = false, last = null }: Options = {},
) {
  return findEscalation({ messages, ask: newestAsk(messages), policy, isFollowUp, last });
}

const repeated = ["once", "twice", "again"].flatMap(() => step("run", { command: "./deploy" }, "1 host left"));
const failing = ["a", "b", "c"].flatMap((path) =>
  step("read", { path }, `Error: ENOENT: no such file, open '${path}'`),
);
const editing = [
  ...step("edit_file", { path: "a.ts", old: "x", new: "y" }, "Error: old_string not found"),
  ...step("read_file", { path: "a.ts" }, "const z = 1"),
  ...step("edit_file", { path: "a.ts", old: "xx", new: "y" }, "Error: old_string not found"),
  ...step("edit_file", { path: "a.ts", old: "xxx", new: "y" }, "Error: old_string not found"),
];

describe("in the calls", () => {
  it.each([
    ["the same call with the same result", repeated, "the same tool call was repeated"],
    ["results that fail in a row", failing, "3 tool calls failed in a row"],
    ["one file whose edits fail", editing, "the same edit failed again"],
  ])("%s raises by one", (_name, steps, because) => {
    expect(evidence([ask, ...steps])).toMatchObject({ tiers: 1, because: [because] });
  });

  it("is found in results that were left in the body", () => {
    const left = (message: ChatMessage): ChatMessage => {
      if (message.role !== "tool") return message;
      const bytes = Buffer.from(JSON.stringify(message.content));
      return withUnread(message, { bytes, start: 0, end: bytes.length, name: "content", isUsual: true });
    };
    const lines = 'more "lines"\n'.repeat(100);
    const because = (endings: readonly string[], begin = "") =>
      evidence([
        ask,
        ...endings.flatMap((ending) => step("run", { command: "./deploy" }, begin + lines + ending)).map(left),
      ]).because;
    expect(because(["1", "2", "3"])).toEqual([]);
    expect(because(["1", "1", "1"])).toEqual(["the same tool call was repeated"]);
    expect(because(["1", "1", "3"])).toEqual([]);
    expect(because(["exit code: 1", "exit code: 2", "exit code: 1"])).toEqual(["3 tool calls failed in a row"]);
    expect(because(["1", "2", "3"], '\n\n"\nError: ')).toEqual([]);
    expect(because(["1", "2", "3"], "\n\n\nError: ")).toEqual(["3 tool calls failed in a row"]);
    expect(because(["\n".repeat(900)], "\n".repeat(900))).toEqual([]);
  });

  it("pieces add up to two at most", () => {
    expect(evidence([ask, ...repeated, ...failing]).tiers).toBe(2);
    expect(evidence([ask, ...repeated, ...failing, answers("Done."), says("It still doesn't work")]).tiers).toBe(2);
  });

  it.each<readonly [string, readonly ChatMessage[]]>([
    [
      "tests run again with another result",
      [...step("run", { c: "t" }, "2 failed"), ...step("run", { c: "t" }, "1 failed")],
    ],
    ["a poll that moves", [...step("status", { id: 1 }, "40%"), ...step("status", { id: 1 }, "80%")]],
    ["the same tool with other arguments", [...step("read", { p: "a" }, "x"), ...step("read", { p: "b" }, "x")]],
    ["two failures", failing.slice(0, 4)],
    [
      "edits of different files that fail",
      [...editing.slice(0, 2), ...step("edit_file", { path: "b.ts" }, "Error: no")],
    ],
    ["one call", repeated.slice(0, 2)],
    ["one repeat", repeated.slice(0, 4)],
    ["calls without results", repeated.filter(({ role }) => role !== "tool")],
  ])("%s is none", (_name, steps) => {
    expect(evidence([ask, ...steps]).tiers).toBe(0);
  });

  it("counts from the newest request on", () => {
    expect(evidence([ask, ...repeated, answers("Done."), says("Now write a README for it")]).tiers).toBe(0);
  });

  it("takes less when eager, and nothing when off", () => {
    expect(evidence([ask, ...failing.slice(0, 4)], { policy: "eager" }).tiers).toBe(1);
    expect(evidence([ask, ...repeated, ...failing], { policy: "off" })).toMatchObject({ tiers: 0, because: [] });
  });
});

describe("in the answer before", () => {
  it.each([
    ["an empty one", answers(""), 1],
    ["one that ends inside code", answers("Here:\n```ts\nconst a ="), 1],
    ["a whole one", answers("Here:\n```ts\nconst a = 1\n```\nDone."), 0],
    ["one with fences inside a line", answers("Use ``` to open a block"), 0],
    ["a refusal", { role: "assistant", content: null, refusal: "No." } as ChatMessage, 0],
  ])("%s", (_name, answer, tiers) => {
    expect(evidence([ask, answer, says("Go on")]).tiers).toBe(tiers);
  });
});

describe("a task", () => {
  const last = (escalation: number, task: number) => ({ escalation, task }) as SessionTurn;
  it("keeps what it was raised by until a new one begins", () => {
    const { task } = evidence([ask]);
    const long = [ask, ...step("read", { p: "a" }, "x")];
    expect(evidence(long, { last: last(2, task) })).toMatchObject({ tiers: 2, task });
    expect(evidence([ask, answers("Done."), says("yes")], { isFollowUp: true, last: last(1, task) }).tiers).toBe(1);
    expect(evidence([ask, answers("Done."), says("Write a poem about the sea")], { last: last(2, task) }).tiers).toBe(
      0,
    );
  });

  it("is a new one in a conversation that begins with the words of another", () => {
    const { task } = evidence([ask]);
    expect(evidence([ask], { last: last(2, task) })).toMatchObject({ tiers: 0, task });
    expect(evidence([ask, says("yes")], { isFollowUp: true, last: last(2, task) }).tiers).toBe(0);
  });

  it("is the same one while the human complains", () => {
    const { task } = evidence([ask]);
    const complained = [ask, answers("Done."), says("It still fails."), answers("Now?"), says("No, same error")];
    expect(evidence(complained)).toMatchObject({ tiers: 2, task });
  });
});

describe("a human says that it is wrong", () => {
  it.each([
    "still broken",
    "It still doesn't work.",
    "No, that's wrong.",
    "That is not what I asked for",
    "the tests are still failing, here is the output: ...",
    "Same error again",
    "Nope, didn't work",
    "your fix does not work on Windows",
    "why is it still not working?",
    "You forgot the edge case",
    "Hmm, I ran it.\nIt still crashes.",
    "Das funktioniert immer noch nicht",
    "Geht nicht",
    "immer noch derselbe Fehler",
    "Das ist falsch.",
    "Ça ne marche toujours pas",
    "C'est faux.",
    "toujours la même erreur",
    "Sigue sin funcionar",
    "No funciona",
    "el mismo error",
    "Ainda não funciona",
    "isso está errado",
    "Non funziona ancora",
    "stesso errore",
    "Всё ещё не работает",
    "Это неправильно",
    "та же ошибка",
    "还是不行",
    "还是报错：TypeError",
    "不对，我要的是列表",
    "まだ動きません",
    "同じエラーが出ます",
    "違います",
    "아직도 안 돼요",
    "여전히 오류가 나요",
    "같은 오류입니다",
    "لا يزال لا يعمل",
    "نفس الخطأ",
    "अभी भी काम नहीं कर रहा",
    "यह गलत है",
    "hâlâ çalışmıyor",
    "aynı hata",
    "nadal nie działa",
    "ten sam błąd",
    "Het werkt nog steeds niet",
    "dezelfde fout",
    "vẫn không chạy",
    "masih error",
    "tidak berfungsi",
    "That didn't fix it",
    "still getting the same error",
    "Leider klappt das nicht",
    "Der Test schlägt immer noch fehl",
    "Das ist nicht, was ich wollte",
    "Ça ne fonctionne pas",
    "Non, ce n'est pas ce que j'ai demandé",
    "Eso no es lo que pedí",
    "Sigue fallando",
    "Não funcionou",
    "Continua com erro",
    "È sbagliato.",
    "Ancora lo stesso errore",
    "Код всё равно не работает",
    "Опять ошибка",
    "Dit klopt niet",
    "Het is nog steeds kapot",
    "To nie działa",
    "Nadal ten sam błąd",
    "Bu çalışmıyor",
    "Yine olmadı",
    "Masih salah",
    "Itu tidak berfungsi",
    "Vẫn bị lỗi",
    "Nó không hoạt động",
    "هذا غير صحيح",
    "الكود لا يعمل",
    "अभी भी गलत है",
    "वही एरर",
    "还是有问题",
    "没有用",
    "まだエラーが出ます",
    "うまくいきません",
    "틀렸어요",
    "여전히 작동하지 않아요",
    "the tests are failing again",
    "It returns NaN",
    "You hallucinated that API",
    "它不工作",
    "I ran it. It prints undefined.",
    "I'm still getting a 500",
    "That function doesn't exist",
    "you forgot the import",
    "The build is red again",
    "Now the tests fail",
    "I specifically asked for JSON",
    "Du hast den Randfall vergessen",
    "Es liefert NaN",
    "Tu as oublié la virgule",
    "Las pruebas fallan",
    "Você esqueceu o import",
    "Hai dimenticato l'import",
    "Ты забыл импорт",
    "Тесты падают",
    "Je hebt de import vergeten",
    "Testy nie przechodzą",
    "NaN döndürüyor",
    "Kamu lupa importnya",
    "Nó trả về NaN",
    "الاختبارات تفشل",
    "टेस्ट फेल हो रहे हैं",
    "你忘了导入",
    "テストが落ちます",
    "테스트가 실패해요",
    "Now I get a different error: KeyError 'id'.",
    "Jetzt kommt ein anderer Fehler.",
    "J'ai encore la même erreur.",
    "Me da el mismo error otra vez.",
    "Continua dando o mesmo erro.",
    "Mi dà lo stesso errore.",
    "Ik krijg weer dezelfde fout.",
    "Aynı hatayı alıyorum.",
    "Теперь другая ошибка.",
    "Teraz mam inny błąd.",
  ])("%s", (text) => {
    expect(isComplaint(text)).toBe(true);
    expect(evidence([ask, answers("Done."), says(text)]).tiers).toBe(1);
  });

  it.each([
    "My printer does not work. What can I do?",
    "What is wrong with this code?",
    "Is it wrong to lie?",
    "Explain why democracy does not work without a free press",
    "Write a story about a broken heart",
    "Thanks, it works now!",
    "Is the museum still open?",
    "Now do the same for the other file",
    "Great. Now fix the wrong date in the header",
    "Add an error message when the input is wrong",
    "not bad, now translate it",
    "Why do birds not fall from the sky?",
    "Mein Drucker funktioniert nicht, was kann ich tun?",
    "Was ist falsch an diesem Satz?",
    "Das funktioniert, danke",
    "Pourquoi le ciel est-il bleu ?",
    "Mon imprimante ne marche pas",
    "¿Por qué no vuelan los pingüinos?",
    "Mi coche no funciona desde ayer, ¿qué hago?",
    "Minha impressora não funciona",
    "Почему небо голубое?",
    "Мой телефон не работает с утра",
    "不对称加密是什么？",
    "解释一下错误处理",
    "エアコンが動かない時はどうすればいいですか",
    "エラー処理について説明して",
    "에러 처리 방법을 알려줘",
    "오류 메시지를 번역해줘",
    "ما هو الخطأ المطبعي؟",
    "गलत का विलोम क्या है?",
    "Yanlış anlaşılma nasıl önlenir?",
    "Dlaczego niebo jest niebieskie?",
    "Hoe werkt een motor?",
    "Vì sao trời xanh?",
    "Apa itu error handling?",
    "Does it still matter?",
    "It works, but make it faster",
    "Mein Auto funktioniert nicht mehr",
    "Erkläre, warum Kommunismus nicht funktioniert",
    "Explique la différence entre vrai et faux",
    "¿Qué significa estar equivocado?",
    "Explica el manejo de errores",
    "Meu celular não funciona desde ontem",
    "La mia stampante non funziona",
    "Spiega la gestione degli errori",
    "Что такое ошибка компиляции?",
    "Mijn printer werkt niet",
    "Wat is een syntaxfout?",
    "Moja drukarka nie działa",
    "Yazıcım çalışmıyor, ne yapmalıyım?",
    "Printer saya tidak berfungsi",
    "Apa arti salah paham?",
    "Máy in của tôi không hoạt động",
    "طابعتي لا تعمل، ماذا أفعل؟",
    "मेरा प्रिंटर काम नहीं कर रहा",
    "सिंटैक्स त्रुटि क्या है?",
    "什么是语法错误？",
    "我的打印机坏了怎么办",
    "プリンターが動きません。どうすればいいですか",
    "프린터가 안 돼요. 어떻게 하죠?",
    "문법 오류가 뭐예요?",
    "You missed nothing, great. Next: months.",
    "Don't fix it yet, explain first.",
    "Don't run it, just show me the code",
    "Not right now, explain first.",
    "Nothing is wrong, just curious.",
    "Add a check: it returns null when the list is empty",
    "You broke the record, thanks!",
    "you forgot nothing, haha",
    "Make sure that the tests fail before the fix",
    "Das funktioniert nicht schlecht, danke!",
    "Du hast nichts vergessen, super",
    "Ça marche pas mal !",
    "No está mal, gracias",
    "Não está errado, obrigado",
    "Nie jest źle, dzięki",
    "Tidak salah, terima kasih",
    "你没忘什么，谢谢",
    "不错，继续",
    "悪くないですね、次へ",
    "나쁘지 않네요, 계속",
    "Het werkt niet slecht",
    "ليس خطأ، شكرا",
    "Non va cambiato nulla, spiegami solo perché.",
    "Почему не работает эта формула в Excel 2010? Объясни в общем.",
    "What does 'the same error' mean here?",
    "Que signifie cette erreur ?",
  ])("is not said by: %s", (text) => {
    expect(isComplaint(text)).toBe(false);
    expect(evidence([ask, answers("Done."), says(text)]).tiers).toBe(0);
  });

  it("is over when the human says that it works", () => {
    const messages = [ask, answers("Done."), says("still broken"), answers("Now?")];
    const { task } = evidence(messages.slice(0, 3));
    const last = { escalation: 1, task } as SessionTurn;
    const after = (text: string) => evidence([...messages, says(text)], { isFollowUp: true, last }).tiers;
    expect(["go on", "Thanks, it works now!", "Danke, läuft.", "谢谢，可以了"].map(after)).toEqual([1, 0, 0, 0]);
    expect(after("Thanks, but it still fails")).toBe(2);
  });

  it("is said of an answer, never in a first message", () => {
    expect(evidence([says("It still doesn't work")]).tiers).toBe(0);
    expect(evidence([says("Hello"), says("It still doesn't work")]).tiers).toBe(0);
  });
});

describe("a failed result", () => {
  it.each([
    "Error: ENOENT: no such file or directory",
    "TypeError: x is not a function\n    at y",
    "Traceback (most recent call last):\n  File",
    "bash: foo: command not found",
    "ls: cannot access 'x': No such file or directory",
    "<tool_use_error>String to replace not found in file.</tool_use_error>",
    '{"error":"not found"}',
    '{"success": false, "message": "x"}',
    '{"isError": true, "content": []}',
    "Failed to apply patch",
    "Exit code: 1\nsome output",
    `${"line\n".repeat(200)}Process exited with code 2`,
    "fatal: not a git repository",
    "Permission denied",
  ])("%s", (text) => {
    expect(isFailure(text)).toBe(true);
  });

  it.each([
    "0 errors, 0 warnings",
    '{"error":null,"data":1}',
    '{"errors": [], "ok": true}',
    "Error handling in Go\n\nErrors are values.",
    "Exit code: 0\nError: none of these is fatal",
    "All tests passed",
    "const error = new Error('x')",
    "The function throws an Error when the file is missing",
    `${"line\n".repeat(200)}Process exited with code 0`,
    "",
    "no matches",
    "ErrorBoundary.tsx\nerrors.ts",
  ])("is not: %s", (text) => {
    expect(isFailure(text)).toBe(false);
  });
});
