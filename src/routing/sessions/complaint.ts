// Complaints: a human says that the answer before was wrong or did not help. Only what is said of that answer counts, so
// clauses must begin with it ("it", "your fix", "still"): "my printer does not work" is a new request.

/** Complaints stand at the beginning; logs and quotations follow. */
const READ_CHARS = 240;

/** `text`: of a message that follows an answer. */
export function isComplaint(text: string): boolean {
  const head = text.slice(0, READ_CHARS).toLowerCase().replaceAll("’", "'");
  return PATTERNS.some((pattern) => pattern.test(head));
}

/** Before a clause: the beginning, or the end of another one. */
const START = "(?:^|[.!?,;:\\n-]\\s*)";

/** A language with spaces: what may open a clause, what it speaks of, and what is said. */
function spoken(openings: string, subjects: string, said: string): RegExp {
  return new RegExp(
    `${START}(?:(?:${openings})[,.!]? +)*(?:(?:${subjects}) +)?(?:${said})(?![\\p{L}\\p{M}\\p{N}])`,
    "u",
  );
}

const PATTERNS: readonly RegExp[] = [
  // English
  spoken(
    "no|nope|but|sorry|hmm|hm|well|and|unfortunately|ok|okay|sadly|why|why does|why is|why do|why are",
    "it|it's|its|this|that|that's|they|they're|these|everything|nothing|you|both|now it|now it's|it is|that is|this is|they are|your (?:[\\w-]+ )?(?:answer|code|fix|solution|change|changes|version|function|script|patch|regex|query|output|suggestion|approach|response)|the (?:[\\w-]+ )?(?:code|tests?|build|fix|bug|error|script|app|page|function|output|result|answer|query|program|solution|issue|problem)(?: is| are)?",
    [
      "(?:is |are |was )?still (?:is |are )?(?:broken|failing|fails?|wrong|incorrect|buggy|not (?:work(?:ing)?|fixed|right|correct|there yet)|crash(?:es|ing)?|(?:the )?same (?:error|issue|problem|bug|result|thing)|(?:doesn't|does not|don't|do not|won't|isn't|can't|didn't)(?: \\w+)?|(?:get|gets|getting|see|seeing|have|having|throws?|gives?) (?:me )?(?:the |that |this |an? )?(?:same )?(?:error|errors|issue|problem|bug|result|exception|failure))",
      "(?:doesn't|does not|didn't|did not|don't|do not|won't|isn't|is not|are not|aren't|not) (?:really |actually |even |still )?(?:work|works|working|compile|run|help|fix(?:ed)? (?:it|anything|that)|right|correct|what i (?:asked|wanted|meant|said)[\\w ]*)",
      "(?:is |are |was |were )?(?:just |completely |totally )?(?:wrong|broken|incorrect)(?: again)?(?=\\s*(?:[.!,;:]|$))",
      "same (?:error|issue|problem|result|bug|exception)(?: again| as before| still)?",
      "(?:fails?|failed|crash(?:es|ed)|breaks?|broke) again",
      "(?:made|are making|keep making|you made) (?:it|things) worse",
      "(?:forgot|missed|ignored|broke|misunderstood|got (?:it|that) wrong|keep (?:making|doing|getting))",
      "no (?:change|difference|effect|luck)(?=\\s*(?:[.!,;:]|$))",
    ].join("|"),
  ),
  // German
  spoken(
    "nein|nee|nö|aber|leider|hm|hmm|und|sorry|warum|wieso",
    "es|das|dies|der code|der test|die tests|dein[a-zäöü]* \\p{L}+|der fehler|die lösung|das programm|das skript|du|du hast",
    "(?:ist |sind |kommt )?(?:leider |jetzt )?(?:immer noch|noch immer|nach wie vor|weiterhin) (?:kaputt|falsch|fehlerhaft|nicht|der ?selbe|der gleiche|ein fehler|fehler)(?: \\p{L}+)?|(?:funktioniert|geht|klappt|läuft|kompiliert|stimmt|hilft|hat)(?: es| das)? (?:leider |so |auch |immer noch |noch immer |trotzdem |weiterhin |jetzt )*nicht(?: funktioniert| geholfen| geklappt)?|ist (?:leider |immer noch |völlig |so )?(?:falsch|nicht richtig|nicht korrekt|nicht das,? was ich)|(?:gleicher|der gleiche|selber|derselbe) fehler|das (?:ist|war) nicht(?: das)?,? was ich|(?:schlägt|schlagen) (?:leider )?(?:immer noch|noch immer|weiterhin|wieder) fehl|etwas vergessen|vergessen",
  ),
  // French
  spoken(
    "non|mais|désolé|désolée|hélas|malheureusement|et|pourquoi",
    "ça|cela|ce|c'|il|elle|le code|le test|les tests|ta \\p{L}+|ton \\p{L}+|votre \\p{L}+|tu|vous",
    "(?:ne |n')?(?:marche|fonctionne|compile|passe|est|sont|résout)(?: \\p{L}+)? (?:toujours |encore |vraiment )?pas|(?:c'est |est )?(?:toujours|encore) (?:cassée?|faux|fausse|la même erreur|le même problème|pas(?: \\p{L}+)?|une erreur)|c'est (?:toujours |encore )?(?:faux|incorrect|mauvais)|ce n'est (?:toujours )?pas (?:ça|correct|bon|juste|ce que)|(?:la )?même (?:erreur|problème)|le même problème|(?:as|avez) oublié",
  ),
  // Spanish
  spoken(
    "no|pero|lo siento|lamentablemente|y|sigue|por qué",
    "eso|esto|ello|el código|la prueba|las pruebas|tu \\p{L}+|tus \\p{L}+|todavía|aún|te",
    "(?:sigue|siguen) (?:sin funcionar|fallando|rot[oa]s?|mal|dando (?:el mismo )?error|igual|con el mismo error)|(?:todavía |aún |sigue )?no (?:funciona|funcionó|compila|sirve|es correcto|es lo que|está bien|me sirve)(?: todavía| aún)?|está (?:mal|roto|incorrecto)|es incorrecto|(?:el )?mismo (?:error|problema)|equivocas|equivocaste|olvidaste",
  ),
  // Portuguese
  spoken(
    "não|mas|desculpe|infelizmente|e|por que",
    "isso|isto|ele|ela|o código|o teste|os testes|seu \\p{L}+|sua \\p{L}+|ainda|você",
    "(?:ainda )?não (?:funciona|funcionou|compila|está (?:certo|funcionando|correto)|deu certo|é o que|resolveu)(?: ainda)?|ainda (?:está )?(?:quebrad[oa]|errad[oa]|com erro|dá erro|falha)|continua (?:não funcionando|sem funcionar|com erro|dando erro|quebrad[oa]|errad[oa])|está (?:errad[oa]|quebrad[oa])|(?:o )?mesmo (?:erro|problema)|esqueceu",
  ),
  // Italian
  spoken(
    "no|ma|purtroppo|mi dispiace|e|perché",
    "questo|quello|il codice|il test|i test|la tua \\p{L}+|il tuo \\p{L}+|ancora|sempre",
    "(?:ancora )?non (?:funziona|va|compila|va bene|è corretto|è giusto|è quello che)(?: ancora| comunque)?|(?:ancora|sempre) (?:rott[oa]|sbagliat[oa]|lo stesso errore|errore)|è (?:ancora )?(?:sbagliat[oa]|rott[oa])|(?:lo )?stesso (?:errore|problema)|hai (?:dimenticato|sbagliato)",
  ),
  // Russian
  spoken(
    "нет|но|к сожалению|извини|и|почему",
    "это|оно|он|код|тест|тесты|твой \\p{L}+|твоё \\p{L}+|ваш \\p{L}+|ты|вы",
    "(?:(?:всё|все) (?:ещё|еще|равно)|по-прежнему|опять|снова) (?:не \\p{L}+|сломан[оаы]?|ошибка|та же|выдаёт|выдает|неправильно|падает)|не (?:работает|работают|помогло|компилируется|запускается|то)(?: опять| снова)?|(?:неправильно|неверно|ошибаешься|ошибся)|та же (?:самая )?(?:ошибка|проблема)|(?:забыл|забыла|забыли)",
  ),
  // Dutch
  spoken(
    "nee|maar|helaas|sorry|en|waarom",
    "het|dit|dat|de code|de test|de tests|jouw \\p{L}+|je \\p{L}+|u",
    "(?:werkt|klopt|lukt|helpt|compileert)(?: \\p{L}+)? ?(?:nog steeds |nog altijd |helaas |weer )?niet|(?:is )?nog (?:steeds|altijd) (?:kapot|fout|niet|dezelfde|een fout)(?: \\p{L}+)?|is (?:fout|verkeerd|onjuist|niet goed|niet wat ik)|dezelfde fout|hetzelfde probleem|vergeten",
  ),
  // Polish
  spoken(
    "nie|ale|niestety|przepraszam|i|dlaczego",
    "to|kod|test|testy|twój \\p{L}+|twoja \\p{L}+|twoje \\p{L}+|ciągle|wciąż|nadal|dalej",
    "(?:nadal |dalej |wciąż |ciągle )?nie (?:działa|działają|kompiluje się|pomogło|jest dobrze|o to (?:mi )?chodziło)|(?:nadal|dalej|wciąż|ciągle) (?:błąd|zepsute|źle|ten sam błąd)|(?:to )?jest (?:źle|błędne|niepoprawne)|ten sam (?:błąd|problem)|zapomniałeś|zapomniałaś",
  ),
  // Turkish, Indonesian, Vietnamese
  spoken(
    "hayır|ama|maalesef|tidak|tapi|maaf|không|nhưng|xin lỗi",
    "bu|o|kod|test|testler|ini|itu|kodenya|jawabanmu|nó|cái này|code|đoạn mã",
    "(?:hâlâ|hala|yine|yine de)? ?(?:çalışmıyor|çalışmadı|olmadı|işe yaramadı|düzelmedi)|(?:hâlâ|hala) (?:bozuk|yanlış|hata|aynı)(?: \\p{L}+)?|yanlış(?=\\s*(?:[.!,]|$))|aynı (?:hata|sorun)|masih (?:error|rusak|salah|gagal|tidak (?:bisa|berfungsi|jalan)|belum (?:bisa|berhasil|jalan)|sama)|(?:tidak|belum) (?:berfungsi|berhasil|jalan|bekerja)|(?:itu )?salah(?=\\s*(?:[.!,]|$))|error yang sama|vẫn (?:không (?:chạy|hoạt động|được)|chưa (?:được|chạy)|bị lỗi|lỗi|sai)|không (?:hoạt động|chạy được)|sai rồi|(?:vẫn )?(?:lỗi cũ|lỗi đó|cùng một lỗi)",
  ),
  // Arabic and Hindi
  spoken(
    "لا|لكن|للأسف|नहीं|लेकिन|माफ़ करना",
    "هذا|ذلك|الكود|الحل|यह|ये|कोड|आपका \\p{L}\\p{M}*",
    "(?:لا يزال|ما زال|مازال|لا تزال|ما زالت)(?: [\\p{L}]+)? ?(?:لا يعمل|معطل|خطأ|نفس الخطأ|الخطأ|لا تعمل)|لا (?:يعمل|تعمل)|لم (?:ينجح|يعمل|يساعد)|(?:هذا )?(?:خطأ|غير صحيح)(?=\\s*(?:[.!،]|$))|نفس (?:الخطأ|المشكلة)|(?:अभी भी|फिर भी|अब भी) [\\p{L}\\p{M} ]{0,30}(?:नहीं|गलत|त्रुटि|एरर)|काम नहीं (?:कर रहा|किया|करता)|गलत है|(?:वही|वहीं) (?:त्रुटि|एरर|गलती)",
  ),
  // Chinese: sentences have no spaces, so a clause must end where the words do.
  /(?:^|[，。！？、；\s])(?:但是?|可是|不过|抱歉|结果)?(?:它|这|这个|代码|你的\p{L}{1,4})?(?:还是|仍然|依然|依旧|又)(?:不行|不对|报错|出错|错|有问题|失败|不能用|没有?用|没变|一样|没解决|跑不了|不工作|无法(?:运行|使用|工作))|(?:^|[，。！？、；\s])(?:这|这个|你)?(?:不对|错了|不行|没有?用|没有?解决|不是我(?:要|想要|问)的|答错了|写错了|理解错了)(?=[，。！？、；了啊吧\s]|$)|同样的(?:错误|问题)|一样的错误/u,
  // Japanese
  /(?:^|[、。！？\s])(?:いや|いいえ|でも|しかし|すみません|残念ながら)?(?:それ|これ|コード|テスト)?(?:は|でも|が)?(?:まだ|やはり|やっぱり|相変わらず|依然として)[^。？]{0,12}(?:動か(?:ない|ず)|動きません|エラー|直っ?て(?:い)?(?:ない|ません)|直りません|失敗|間違|おかしい|ダメ|だめ|できません|できない)|(?:^|[、。！？\s])(?:それ(?:は|でも)?|これ(?:は|でも)?)?(?:動きません|動かないです|動かない|うまくいきません|うまくいかない|直っていません|違います|間違っ?て(?:い)?(?:ます|る|います))(?=[、。！？よでが\s]|$)|同じエラー|同じ問題が/u,
  // Korean
  /(?:^|[.,!?\s])(?:아직도?|여전히|계속|또)\s?[^.?!]{0,10}(?:안\s?(?:돼|되|됩|된)|작동하지\s?않|오류|에러|틀렸|틀려|실패|똑같)|(?:^|[.,!?]\s?)(?:아니요?,?\s?)?(?:그래도\s?|이거\s?|그거\s?)?(?:안\s?(?:돼요?|됩니다|되네요|되는데요?)|작동(?:하지\s?않아요|하지\s?않습니다|이?\s?안\s?(?:돼요?|됩니다))|틀렸(?:어요?|습니다)|해결되지\s?않았)|(?:같은|똑같은)\s?(?:오류|에러|문제)/u,
];
