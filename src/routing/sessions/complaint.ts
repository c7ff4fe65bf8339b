// Complaints: a human says that the answer before was wrong or did not help. Only what is said of that answer counts, so
// clauses must begin with it ("it", "your fix", "still"): "my printer does not work" is a new request.

/** Complaints stand at the beginning; logs and quotations follow. */
const READ_CHARS = 240;

/** `text`: of a message that follows an answer. */
export function isComplaint(text: string): boolean {
  const head = text.slice(0, READ_CHARS).toLowerCase().replaceAll("’", "'");
  if (PATTERNS.some((pattern) => pattern.test(head))) return true;
  return FAULTS.some((pattern) => pattern.test(head)) && !JOKES.test(head);
}

/** `text`: of a message that follows an answer. Says that it works, or praises it, and nothing else before. */
export function isRelief(text: string): boolean {
  const head = text.slice(0, READ_CHARS).toLowerCase().replaceAll("’", "'");
  return RELIEF.test(head) && !isComplaint(text);
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
    "it|it's|its|this|that|that's|they|they're|these|everything|both|now it|now it's|it is|that is|this is|they are|your (?:[\\w-]+ )?(?:answer|code|fix|solution|change|changes|version|function|script|patch|regex|query|output|suggestion|approach|response)|the (?:[\\w-]+ )?(?:code|tests?|build|fix|bug|error|script|app|page|function|output|result|answer|query|program|solution|issue|problem)(?: is| are)?",
    [
      "(?:is |are |was )?still (?:is |are )?(?:broken|failing|fails?|wrong|incorrect|buggy|not (?:work(?:ing)?|fixed|right|correct|there yet)|crash(?:es|ing)?|(?:the )?same (?:error|issue|problem|bug|result|thing)|(?:doesn't|does not|don't|do not|won't|isn't|can't|didn't)(?: \\w+)?|(?:get|gets|getting|see|seeing|have|having|throws?|gives?) (?:me )?(?:the |that |this |an? )?(?:same )?(?:error|errors|issue|problem|bug|result|exception|failure))",
      "(?:(?:doesn't|does not|didn't|did not|won't|isn't|is not|are not|aren't|not)|(?<=(?:they|these|both|tests?|changes) )(?:don't|do not)) (?:really |actually |even |still )?(?:work|works|working|compile|run|help|fix(?:ed)? (?:it|anything|that)|right(?! now| away| there)|correct|what i (?:asked|wanted|meant|said)[\\w ]*)",
      "(?<!nothing )(?:is |are |was |were )?(?:just |completely |totally )?(?:wrong|broken|incorrect)(?: again)?(?=\\s*(?:[.!,;:]|$))",
      "same (?:error|issue|problem|result|bug|exception)(?: again| as before| still)?",
      "(?:(?:is |are )?(?:fail(?:s|ed|ing)?|crash(?:es|ed|ing)?|break(?:s|ing)?|broken|broke|red|hanging|stuck)) again",
      "(?:made|are making|keep making|you made) (?:it|things) worse",
      "no (?:change|difference|effect|luck)(?=\\s*(?:[.!,;:]|$))",
    ].join("|"),
  ),
  // German
  spoken(
    "nein|nee|nö|aber|leider|hm|hmm|und|sorry|warum|wieso",
    "es|das|dies|der code|der test|die tests|dein[a-zäöü]* \\p{L}+|der fehler|die lösung|das programm|das skript|du|du hast",
    "(?:ist |sind |kommt )?(?:leider |jetzt )?(?:immer noch|noch immer|nach wie vor|weiterhin) (?:kaputt|falsch|fehlerhaft|nicht|der ?selbe|der gleiche|ein fehler|fehler)(?: \\p{L}+)?|(?:funktioniert|geht|klappt|läuft|kompiliert|stimmt|hilft|hat)(?: es| das)? (?:leider |so |auch |immer noch |noch immer |trotzdem |weiterhin |jetzt )*nicht(?! schlecht| übel| so schlecht| mehr nötig)(?: funktioniert| geholfen| geklappt)?|ist (?:leider |immer noch |völlig |so )?(?:falsch|nicht richtig|nicht korrekt|nicht das,? was ich)|(?:gleicher|der gleiche|selber|derselbe) fehler|das (?:ist|war) nicht(?: das)?,? was ich|(?:schlägt|schlagen) (?:leider )?(?:immer noch|noch immer|weiterhin|wieder) fehl|etwas vergessen|vergessen",
  ),
  // French
  spoken(
    "non|mais|désolé|désolée|hélas|malheureusement|et|pourquoi",
    "ça|cela|ce|c'|il|elle|le code|le test|les tests|ta \\p{L}+|ton \\p{L}+|votre \\p{L}+|tu|vous",
    "(?:ne |n')?(?:marche|fonctionne|compile|passe|est|sont|résout)(?: \\p{L}+)? (?:toujours |encore |vraiment )?pas(?! mal)|(?:c'est |est )?(?:toujours|encore) (?:cassée?|faux|fausse|la même erreur|le même problème|pas(?: \\p{L}+)?|une erreur)|c'est (?:toujours |encore )?(?:faux|incorrect|mauvais)|ce n'est (?:toujours )?pas (?:ça|correct|bon|juste|ce que)|(?:la )?même (?:erreur|problème)|le même problème|(?:as|avez) oublié",
  ),
  // Spanish
  spoken(
    "no|pero|lo siento|lamentablemente|y|sigue|por qué",
    "eso|esto|ello|el código|la prueba|las pruebas|tu \\p{L}+|tus \\p{L}+|todavía|aún|te",
    "(?:sigue|siguen) (?:sin funcionar|fallando|rot[oa]s?|mal|dando (?:el mismo )?error|igual|con el mismo error)|(?:todavía |aún |sigue )?no (?:funciona|funcionó|compila|sirve|es correcto|es lo que|está bien|me sirve)(?: todavía| aún)?|(?<!no )está (?:mal|roto|incorrecto)|es incorrecto|(?:el )?mismo (?:error|problema)|equivocas|equivocaste|olvidaste",
  ),
  // Portuguese
  spoken(
    "não|mas|desculpe|infelizmente|e|por que",
    "isso|isto|ele|ela|o código|o teste|os testes|seu \\p{L}+|sua \\p{L}+|ainda|você",
    "(?:ainda )?não (?:funciona|funcionou|compila|está (?:certo|funcionando|correto)|deu certo|é o que|resolveu)(?: ainda)?|ainda (?:está )?(?:quebrad[oa]|errad[oa]|com erro|dá erro|falha)|continua (?:não funcionando|sem funcionar|com erro|dando erro|quebrad[oa]|errad[oa])|(?<!não )está (?:errad[oa]|quebrad[oa])|(?:o )?mesmo (?:erro|problema)|esqueceu",
  ),
  // Italian
  spoken(
    "no|ma|purtroppo|mi dispiace|e|perché",
    "questo|quello|il codice|il test|i test|la tua \\p{L}+|il tuo \\p{L}+|ancora|sempre",
    "(?:ancora )?non (?:funziona|va(?! \\p{L}+t[oaie](?= ))|compila|va bene|è corretto|è giusto|è quello che)(?: ancora| comunque)?|(?:ancora|sempre) (?:rott[oa]|sbagliat[oa]|lo stesso errore|errore)|è (?:ancora )?(?:sbagliat[oa]|rott[oa])|(?:lo )?stesso (?:errore|problema)|hai (?:dimenticato|sbagliato)",
  ),
  // Russian
  spoken(
    "нет|но|к сожалению|извини|и|почему",
    "это|оно|он|код|тест|тесты|твой \\p{L}+|твоё \\p{L}+|ваш \\p{L}+|ты|вы",
    "(?:(?:всё|все) (?:ещё|еще|равно)|по-прежнему|опять|снова) (?:не \\p{L}+|сломан[оаы]?|ошибка|та же|выдаёт|выдает|неправильно|падает)|не (?:работает(?! (?:эта|этот|мой|моя) )|работают|помогло|компилируется|запускается|то)(?: опять| снова)?|(?:неправильно|неверно|ошибаешься|ошибся)|та же (?:самая )?(?:ошибка|проблема)|(?:забыл|забыла|забыли)",
  ),
  // Dutch
  spoken(
    "nee|maar|helaas|sorry|en|waarom",
    "het|dit|dat|de code|de test|de tests|jouw \\p{L}+|je \\p{L}+|u",
    "(?:werkt|klopt|lukt|helpt|compileert)(?: \\p{L}+)? ?(?:nog steeds |nog altijd |helaas |weer )?niet(?! slecht| verkeerd)|(?:is )?nog (?:steeds|altijd) (?:kapot|fout|niet|dezelfde|een fout)(?: \\p{L}+)?|is (?:fout|verkeerd|onjuist|niet goed|niet wat ik)|dezelfde fout|hetzelfde probleem|vergeten",
  ),
  // Polish
  spoken(
    "nie|ale|niestety|przepraszam|i|dlaczego",
    "to|kod|test|testy|twój \\p{L}+|twoja \\p{L}+|twoje \\p{L}+|ciągle|wciąż|nadal|dalej",
    "(?:nadal |dalej |wciąż |ciągle )?nie (?:działa|działają|kompiluje się|pomogło|jest dobrze|o to (?:mi )?chodziło)|(?:nadal|dalej|wciąż|ciągle) (?:błąd|zepsute|źle|ten sam błąd)|(?<!nie )(?:to )?jest (?:źle|błędne|niepoprawne)|ten sam (?:błąd|problem)|zapomniałeś|zapomniałaś",
  ),
  // Turkish, Indonesian, Vietnamese
  spoken(
    "hayır|ama|maalesef|tidak|tapi|maaf|không|nhưng|xin lỗi",
    "bu|o|kod|test|testler|ini|itu|kodenya|jawabanmu|nó|cái này|code|đoạn mã",
    "(?:hâlâ|hala|yine|yine de)? ?(?:çalışmıyor|çalışmadı|olmadı|işe yaramadı|düzelmedi)|(?:hâlâ|hala) (?:bozuk|yanlış|hata|aynı)(?: \\p{L}+)?|yanlış(?=\\s*(?:[.!,]|$))|aynı (?:hata|sorun)|masih (?:error|rusak|salah|gagal|tidak (?:bisa|berfungsi|jalan)|belum (?:bisa|berhasil|jalan)|sama)|(?:tidak|belum) (?:berfungsi|berhasil|jalan|bekerja)|(?<!tidak )(?:itu )?salah(?=\\s*(?:[.!,]|$))|error yang sama|vẫn (?:không (?:chạy|hoạt động|được)|chưa (?:được|chạy)|bị lỗi|lỗi|sai)|không (?:hoạt động|chạy được)|sai rồi|(?:vẫn )?(?:lỗi cũ|lỗi đó|cùng một lỗi)",
  ),
  // Arabic and Hindi
  spoken(
    "لا|لكن|للأسف|नहीं|लेकिन|माफ़ करना",
    "هذا|ذلك|الكود|الحل|यह|ये|कोड|आपका \\p{L}\\p{M}*",
    "(?:لا يزال|ما زال|مازال|لا تزال|ما زالت)(?: [\\p{L}]+)? ?(?:لا يعمل|معطل|خطأ|نفس الخطأ|الخطأ|لا تعمل)|لا (?:يعمل|تعمل)|لم (?:ينجح|يعمل|يساعد)|(?<!لا )(?:هذا )?(?:خطأ|غير صحيح)(?=\\s*(?:[.!،]|$))|نفس (?:الخطأ|المشكلة)|(?:अभी भी|फिर भी|अब भी) [\\p{L}\\p{M} ]{0,30}(?:नहीं|गलत|त्रुटि|एरर)|काम नहीं (?:कर रहा|किया|करता)|गलत है|(?:वही|वहीं) (?:त्रुटि|एरर|गलती)",
  ),
  // Chinese: sentences have no spaces, so a clause must end where the words do.
  /(?:^|[，。！？、；\s])(?:但是?|可是|不过|抱歉|结果)?(?:它|这|这个|代码|你的\p{L}{1,4})?(?:还是|仍然|依然|依旧|又)(?:不行|不对|报错|出错|错|有问题|失败|不能用|没有?用|没变|一样|没解决|跑不了|不工作|无法(?:运行|使用|工作))|(?:^|[，。！？、；\s])(?:这|这个|你)?(?:不对|错了|不行|没有?用|没有?解决|不是我(?:要|想要|问)的|答错了|写错了|理解错了)(?=[，。！？、；了啊吧\s]|$)|同样的(?:错误|问题)|一样的错误/u,
  // Japanese
  /(?:^|[、。！？\s])(?:いや|いいえ|でも|しかし|すみません|残念ながら)?(?:それ|これ|コード|テスト)?(?:は|でも|が)?(?:まだ|やはり|やっぱり|相変わらず|依然として)[^。？]{0,12}(?:動か(?:ない|ず)|動きません|エラー|直っ?て(?:い)?(?:ない|ません)|直りません|失敗|間違|おかしい|ダメ|だめ|できません|できない)|(?:^|[、。！？\s])(?:それ(?:は|でも)?|これ(?:は|でも)?)?(?:動きません|動かないです|動かない|うまくいきません|うまくいかない|直っていません|違います|間違っ?て(?:い)?(?:ます|る|います))(?=[、。！？よでが\s]|$)|同じエラー|同じ問題が/u,
  // Korean
  /(?:^|[.,!?\s])(?:아직도?|여전히|계속|또)\s?[^.?!]{0,10}(?:안\s?(?:돼|되|됩|된)|작동하지\s?않|오류|에러|틀렸|틀려|실패|똑같)|(?:^|[.,!?]\s?)(?:아니요?,?\s?)?(?:그래도\s?|이거\s?|그거\s?)?(?:안\s?(?:돼요?|됩니다|되네요|되는데요?)|작동(?:하지\s?않아요|하지\s?않습니다|이?\s?안\s?(?:돼요?|됩니다))|틀렸(?:어요?|습니다)|해결되지\s?않았)|(?:같은|똑같은)\s?(?:오류|에러|문제)/u,
];

/** Said in jest. */
const JOKES = /\b(?:just kidding|kidding|joking|haha|lol)\b|[😂🤣😉😄]|;-?\)/u;

/** Before a fault: the beginning of the message, or of a line, or a sentence that says that it was tried. */
const OPENS =
  "(?:^|\\n)\\s*(?:(?:hmm|hm|no|nope|but|sorry|well|ok|okay|now|wait|actually|unfortunately|ugh)[,.!: -]+|i (?:just )?(?:ran|tried|tested|checked)[^.!?\\n]{0,60}[.,:;!]\\s*(?:(?:but|and|now) )?)*";

/** Faults of an answer that are named: what it returns, forgot or invented. */
const FAULTS: readonly RegExp[] = [
  new RegExp(
    `${OPENS}(?:it|this|that|the [\\w-]+|your [\\w-]+|now it) (?:now |just |only |always |keeps? |still )*(?:return|print|give|show|throw|output|log|rais|yield)(?:s|es|ing)?(?: me| us)? (?:(?:me )?(?:nan|null|undefined|none|nothing|zero|garbage|nonsense|blank|wrong)\\b|the wrong|an? (?:[\\w-]+ )?(?:error|exception|empty)|(?:an? )?\\w+(?:error|exception)\\b|an empty|a blank|[45]\\d\\d\\b)`,
    "u",
  ),
  new RegExp(
    `${OPENS}(?:it|this|that|the (?:app|page|build|script|server|program|code|command|query|test|function)|your [\\w-]+)(?: now| just| always| simply)? (?:hangs|crashes|freezes|fails|breaks|loops forever|times out|segfaults|blows up)(?=[ .,!;:]|$)(?! safely| loudly| gracefully| as )`,
    "u",
  ),
  new RegExp(
    `${OPENS}(?:why (?:have|did) )?you(?:'ve| have| did)?(?: just| totally| completely| simply| again| also)* (?:forgot(?:ten)?|forget|missed|miss|ignored|ignore|broke|broken|misunderstood|misread|skipped|invented|hallucinated|made (?:that|this|it|things) up|overlooked|messed (?:it|this|that|up))\\b(?! nothing| not(?:hing)?\\b| no ?one| my heart| the record| all expectations| the ice| the bank| me\\b)`,
    "u",
  ),
  new RegExp(
    `${OPENS}(?:you (?:got (?:it|that|this) wrong|keep (?:making|doing|getting))|(?:nope|still no|wrong (?:file|function|language|one|answer|branch|format|way))(?=[.!]?\\s*$)|you(?:'re| are) (?:wrong|mistaken|hallucinating|making (?:that|this|things) up)|(?:that|this|there is no such|no such) (?:api|function|method|package|module|flag|option|library|class|command|field|parameter|file)(?: (?:doesn't|does not) (?:even )?exist|(?=[.!]|$))|(?:that|this|it)(?:'s| is| was) (?:useless|unhelpful|not helpful|nonsense|garbage|made up|terrible)(?=[ .!,;]|$)|nothing (?:changed|happens|happened)(?=[ .!,;]|$))`,
    "u",
  ),
  new RegExp(
    `${OPENS}(?:(?:i|we)(?:'m| am|'re| are)? still (?:get|getting|see|seeing|have|having|hit|hitting) |i (?:already|specifically|clearly|explicitly|just) (?:said|told you|asked)\\b|i asked (?:you )?(?:for|to) )`,
    "u",
  ),
  new RegExp(
    `${OPENS}(?:now )?(?:(?:the|all|\\d+|my|both|some|more|two|three) )?(?:unit |other |same )?(?:tests?|checks?|builds?|ci|pipeline)(?:'s| is| are)? (?:now )?(?:fail(?:s|ing|ed)?|red|broken)(?=[ .,!;:]|$)(?! (?:on purpose|because they should|as (?:expected|they should|intended)|before))`,
    "u",
  ),
  new RegExp(
    `${OPENS}(?:(?:the|this|that) (?:same )?(?:bug|error|issue|problem|warning|exception)(?:'s| is| has)? (?:back|still there|not gone|come back|unchanged)|(?:the|your) [\\w-]+ (?:is|are|looks) (?:still )?(?:off|blank|empty|missing|gone|garbled|nonsense)(?=[.!,]|\\s*$)|(?:it|this|that)(?:'s| is) (?:even )?(?:slower|worse) than|(?:it |this |that )?(?:doesn't|does not|didn't) do anything|(?:it|you) (?:deleted|overwrote|wiped|removed) (?:my|the wrong|everything)|i said (?:no|not|without|only) )`,
    "u",
  ),
  // The same error, or another one now
  /(?:^|[.!?\n]\s*)(?:(?:no|nope|but|and|now|hm+)[, ]+)*(?:i|we)(?:'m| am|'re| are)? (?:now |just |again )?(?:get|getting|see|seeing|have|having|hit) (?:a different|a new|another|the same|the exact same) (?:error|exception|problem|issue|bug|failure|warning)/u,
  /(?:^|[.!?\n]\s*)(?:(?:nein|aber|und|hm+)[, ]+)*(?:(?:jetzt|nun|da) )?(?:ich )?(?:kommt|gibt es|bekomme|kriege|erhalte|sehe|habe)(?: ich)? (?:jetzt |nun |wieder |immer noch )?(?:ein(?:en)? (?:andere|neue)[rn]|(?:wieder )?de[rn] (?:gleich|selb)en?|de[rn]selben?) fehler/u,
  /(?:^|[.!?\n]\s*)(?:(?:non|no|mais|pero|mas|ma|não|e|et|y|maintenant|ahora|agora|ora)[, ]+)*(?:j'ai (?:toujours |encore )?(?:la même|une autre|une nouvelle) erreur|(?:me |mi )?(?:sigue dando |continua dando |continua a dare )?(?:da|dà|dá|dando|sale|aparece|tengo|tenho|ottengo|esce|ho)? ?(?:otra vez |ancora |de novo )?(?:el mismo|otro|o mesmo|outro|lo stesso|un altro) (?:error|erro|errore)(?=[ .!,]|$))/u,
  /(?:^|[.!?\n]\s*)(?:ik (?:krijg|zie|heb) (?:nu |weer |nog steeds )?(?:dezelfde|een andere|een nieuwe) fout|(?:теперь |опять |снова )?(?:другая|новая|та же) ошибка|(?:teraz )?(?:mam |dostaję )?(?:inny|nowy|ten sam) błąd|(?:şimdi )?(?:aynı|başka bir|yeni bir) hata(?:yı|sı)? (?:alıyorum|veriyor|var)|(?:sekarang )?(?:muncul )?(?:error|masalah) (?:lain|baru|yang sama)|(?:bây giờ )?(?:lại )?(?:bị )?lỗi (?:khác|tương tự))(?=[ .!,]|$)/u,
  // German
  /(?:^|[.!?\n]\s*)(?:der|die|das) (?:gleiche |selbe )?(?:fehler|bug|problem|warnung|absturz) (?:ist|tritt|kommt) (?:leider )?(?:immer noch|noch immer|wieder|weiterhin|noch)|(?:^|[.!?\n]\s*)(?:l'erreur|le bug|le problème) (?:est toujours|est encore|persiste|reste|est de nouveau)|(?:^|[.!?\n]\s*)(?:el error|el problema|el fallo|o erro|o problema|l'errore|il problema|il bug|il test) (?:sigue|continúa|persiste|continua|ainda|rimane|resta|è ancora|è sempre|fallisce ancora)|(?:^|[.!?\n]\s*)(?:ошибка|проблема) (?:осталась|всё ещё|все еще|та же|не исчезла|никуда)|(?:^|[.!?\n]\s*)(?:de (?:fout|bug)|het probleem) is (?:er )?nog|(?:^|[.!?\n]\s*)(?:błąd|problem) (?:nadal|wciąż|dalej) |(?:^|[.!?\n]\s*)(?:hata|sorun) (?:devam ediyor|hâlâ|hala|sürüyor)|(?:error|bug|masalah)(?:nya)? masih |vẫn còn (?:lỗi|sai)|(?:ما زال|لا يزال) (?:الخطأ|الخلل)|(?:त्रुटि|एरर|समस्या) (?:अभी भी|अब भी|वैसी ही) |(?:错误|问题|bug)(?:还在|依旧|还是存在|依然存在|仍然存在|没消失)|(?:测试|编译|构建)(?:还是|仍然|依然|又)(?:失败|报错|不过|通不过)|直って(?:い)?(?:ません|ない)|(?:오류|에러|문제|버그)(?:가|는)?\s?(?:그대로|여전|아직)/u,
  /(?:^|[.!?\n]\s*)(?:(?:nein|hm+|aber|leider|jetzt|das ist falsch)[,.! ]+)*(?:(?:es|das|die \p{L}+|der \p{L}+|deine? \p{L}+)(?: jetzt| nur| immer)* (?:gibt|liefert|zeigt|wirft)(?: mir| jetzt| nur| immer)* (?:nan|null|nichts|undefined|(?:ein|den|einen|eine) (?:falsche\p{L}*|fehler|leere\p{L}*|exception))|du hast (?!nichts|niemanden|mir|mich)[^.!?\n]{1,60}(?:vergessen|übersehen|ignoriert|erfunden|kaputt ?gemacht|missverstanden)|(?:es|das programm|die app|der server|das skript) (?:stürzt ab|hängt|friert ein)|(?:diese|die) (?:api|funktion|methode|option|bibliothek) (?:gibt es (?:gar )?nicht|existiert nicht)|die tests (?:sind rot|schlagen (?:jetzt )?fehl))/u,
  // French, Spanish, Portuguese, Italian
  /(?:^|[.!?\n]\s*)(?:(?:non|mais|hélas|maintenant)[, ]+)*(?:(?:ça|cela|il|elle|le code|la fonction|le script) (?:renvoie|retourne|affiche|donne|lève) (?:nan|null|undefined|rien|une (?:erreur|exception)|la mauvaise|le mauvais|un résultat (?:faux|vide))|(?:tu as|vous avez) (?!rien)(?:oublié|inventé|ignoré|cassé|mal compris)|(?:ça|l'application|le serveur|le programme) plante|cette (?:api|fonction|méthode|option) n'existe pas|les tests (?:échouent|ne passent pas))/u,
  /(?:^|[.!?\n]\s*)(?:(?:no|pero|ahora)[, ]+)*(?:(?:eso |esto |el código |la función |el script )?(?:devuelve|muestra|da|lanza|imprime) (?:nan|null|undefined|nada|un error|una excepción|el resultado equivocado)|(?:te )?(?:has )?(?:olvidaste|olvidado|inventaste|ignoraste|rompiste) (?!nada)|(?:esa|esta) (?:api|función|opción) no existe|las pruebas (?:fallan|están fallando)|se (?:cuelga|bloquea|cae)(?=[ .!,]|$))/u,
  /(?:^|[.!?\n]\s*)(?:(?:não|mas|agora)[, ]+)*(?:(?:isso |isto |ele |o código |a função )?(?:retorna|mostra|dá|lança|imprime) (?:nan|null|undefined|nada|erro|um erro|uma exceção)|você (?!não)(?:esqueceu|inventou|ignorou|quebrou|entendeu errado)(?! nada)|(?:essa|esta) (?:api|função|opção) não existe|os testes (?:falham|estão falhando|falharam))/u,
  /(?:^|[.!?\n]\s*)(?:(?:no|ma|ora)[, ]+)*(?:(?:questo |il codice |la funzione )?(?:restituisce|mostra|dà|lancia|stampa) (?:nan|null|undefined|niente|un errore|un'eccezione)|hai (?:dimenticato|inventato|ignorato|rotto|frainteso)(?! (?:niente|nulla))|(?:questa|quella) (?:api|funzione|opzione) non esiste|i test (?:falliscono|non passano)|(?:si blocca|va in crash))/u,
  // Russian, Polish, Dutch, Turkish, Indonesian, Vietnamese
  /(?:^|[.!?\n]\s*)(?:(?:нет|но|теперь)[, ]+)*(?:(?:это |он |код |функция )?(?:возвращает|выводит|выдаёт|выдает|бросает) (?:nan|null|undefined|ничего|ошибку|пустой|неправильн\p{L}+)|(?:ты|вы) (?:забыла?|забыли|придумала?|проигнорировала?|сломала?|пропустила?) (?!ничего)|такого? (?:api|функции|метода|опции) (?:нет|не существует)|тесты (?:падают|не проходят|упали)|(?:падает|зависает|вылетает)(?=[ .!,]|$))/u,
  /(?:^|[.!?\n]\s*)(?:(?:nie|ale|teraz)[, ]+)*(?:(?:to |kod |funkcja )?(?:zwraca|wyświetla|rzuca|daje) (?:nan|null|undefined|nic|błąd|wyjątek)|(?:zapomniałeś|zapomniałaś|pominąłeś|zmyśliłeś|zepsułeś) (?!niczego)|(?:takiej|ta) (?:funkcji|funkcja|api|opcji) nie (?:ma|istnieje)|testy (?:nie przechodzą|padają|nadal padają)|(?:zawiesza|wywala) się)/u,
  /(?:^|[.!?\n]\s*)(?:(?:nee|maar|nu)[, ]+)*(?:(?:het|dit|de code|de functie) (?:geeft|toont|gooit) (?:nan|null|undefined|niets|een (?:fout|lege|verkeerde))|je (?:bent|hebt) (?!niets)[^.!?\n]{1,60}(?:vergeten|verzonnen|genegeerd|gemist)|(?:die|deze) (?:api|functie|optie) bestaat niet|de tests (?:falen|slagen niet)|het (?:crasht|loopt vast))/u,
  /(?:^|[.!?\n]\s*)(?:(?:hayır|ama|şimdi|tapi|tidak|sekarang|không|nhưng|giờ)[, ]+)*(?:(?:nan|null|undefined|hata|yanlış sonuç) (?:döndürüyor|veriyor)|testler (?:başarısız|geçmiyor)|(?:unuttun|unutmuşsun)(?=[ .!,]|$)|çöküyor|(?:kodenya |fungsinya |ini )?(?:mengembalikan|menampilkan|mengeluarkan) (?:nan|null|undefined|error|kosong)|(?:kamu|anda) (?:lupa|mengabaikan|mengarang)|tesnya gagal|(?:nó |hàm |code )?(?:trả về|hiện ra|báo) (?:nan|null|undefined|lỗi|rỗng)|bạn (?:quên|bỏ sót|bịa))/u,
  // Arabic and Hindi
  /(?:^|[.!?،\n]\s*)(?:(?:لا|لكن|الآن)[،, ]+)*(?:(?:إنه |الكود |الدالة )?(?:يعيد|تعيد|يرجع|ترجع|يعطي|يظهر) (?:nan|null|undefined|خطأ|لا شيء|قيمة خاطئة)|(?:لقد )?نسيت (?!شيئا|شيئًا)|الاختبارات (?:تفشل|فشلت)|(?:यह |कोड |फ़ंक्शन )?(?:nan|null|undefined|गलत|एरर|त्रुटि) (?:लौटाता|लौटा रहा|दे रहा|देता|दिखा रहा) है|(?:आप|तुम) [\p{L}\p{M} ]{0,40}भूल गए|(?:टेस्ट|परीक्षण) (?:फेल|विफल) (?:हो रहे|हो गए))/u,
  // Chinese, Japanese, Korean
  /(?:^|[，。！？、；\s])(?:它|这个?|代码|程序|函数|结果|测试)(?:现在|还|又|都|就)?(?:不工作|没反应|跑不起来|不起作用|崩溃|卡死|挂了|失败了?|报错|返回(?:了)?(?:nan|null|undefined|空|错误)|输出(?:了)?(?:错误|空))|(?:^|[，。！？、；\s])你(?:又|还是|把)?(?:忘了|忘记了?|漏了|漏掉了?|忽略了|编造了?|弄错了?|搞错了?|理解错)|没有这个(?:api|函数|方法|选项|参数)/u,
  /(?:^|[、。！？\s])(?:それ|これ|コード|関数|結果|テスト)?(?:は|が)?(?:nan|null|undefined|空|エラー)(?:を返し|が返っ|が返り|になり|になっ|が出て|を出し)|(?:^|[、。！？\s])(?:テスト|ビルド)が(?:また)?(?:失敗し|落ち|通りません|通らない)|(?:^|[、。！？\s])[^、。！？]{0,20}(?:忘れて(?:い)?ます|忘れてる|抜けて(?:い)?ます|存在しません|クラッシュします|固まります)(?=[。！\s]|$)/u,
  /(?:^|[.,!?\s])(?:그거|이거|코드|함수|결과)?(?:가|이|는|은)?\s?(?:nan|null|undefined|빈 값|에러|오류)(?:을|를|가|이)?\s?(?:반환|나와|나옵|납니|떠요|뜹)|(?:^|[.,!?]\s?)테스트가\s?(?:또\s?)?(?:실패|깨[져졌]|통과하지)|(?:^|[.,!?\s])[^.,!?]{0,20}(?:빠뜨렸|빼먹었|잊으셨|존재하지\s?않)/u,
];

/** Praise, and words that it works, at the beginning of a message. */
const RELIEF =
  /^\W*(?:(?:yes|ok|okay|ja|oui|sí|sim|да|好的?|はい|네)[,.! ]+)*(?:(?:it|that|this|everything) (?:all )?(?:works|worked|passes|is fixed|did it)|works(?: now| great| fine| perfectly)?(?=[ .!,]|$)|(?:all )?(?:tests )?(?:pass|green)(?: now)?(?=[ .!,]|$)|perfect|great|awesome|excellent|lovely|thanks|thank you|nice|(?:das |es )?(?:funktioniert|klappt|läuft)(?: jetzt)?(?! nicht)|danke|super|perfekt|prima|merci|parfait|ça marche|gracias|perfecto|funciona|obrigad[oa]|perfeito|grazie|perfetto|funziona|спасибо|отлично|работает|bedankt|dank je|het werkt|dziękuję|dzięki|działa|teşekkürler|çalışıyor|terima kasih|berhasil|cảm ơn|chạy được|شكرا|يعمل الآن|धन्यवाद|谢谢|可以了|好了|太好了|ありがとう|動きました|감사|고마워|됩니다)/u;
