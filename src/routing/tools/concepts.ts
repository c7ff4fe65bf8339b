// Words that name the same thing in a request and in a tool definition, so that "is it raining" meets `get_weather`, and
// the same things in scripts that definitions are not written in.

/** Words are compared by so many first letters: "book" and "booking" are one. By hand. */
const STEM_CHARS = 5;

/** Each line counts as its first word. */
const CONCEPTS = conceptsOf(
  "weather rain raining rainy snow sunny windy forecast umbrella humidity warm cold hot temperature",
  "flight fly flying plane airline airport",
  "package parcel shipment shipping delivery tracking",
  "currency euro euros dollars usd eur yen pounds rupees francs exchange",
  "restaurant eat dinner lunch food cuisine diner italian greek sushi pizza",
  "music song songs jazz listen album playlist playback",
  "calendar appointment meeting schedule event agenda",
  "stock stocks shares trading nasdaq",
  "mail email inbox message",
  "alarm wake timer remind reminder",
  "image picture photo png jpg jpeg pixels",
  "thermostat heating degrees warmer colder",
  "hotel stay accommodation lodging",
  "ticket bug issue",
  "product products buy shop shopping cheap cheapest",
  "directions route drive driving navigate",
  "movie movies film films cinema",
  "recipe recipes cook cooking ingredients",
  "mortgage loan loans repayment",
  "database orders customers sales records rows",
  "probability odds chance likelihood",
  "conversion convert ounces teaspoons tablespoons cups kilometers miles unit units",
  "monarch king queen kings ruler",
  "lawyer attorney legal law",
);

/** Stems of definitions with what they are called elsewhere; other scripts are searched without regard to words. */
export const FOREIGN_CONCEPTS: readonly (readonly [stem: string, words: readonly string[]])[] = [
  ["weath", "天气 气温 下雨 天気 気温 雨が 날씨 기온 погод дожд الطقس मौसम"],
  ["fligh", "航班 机票 飞机 飛行機 航空券 フライト 항공 비행기 рейс авиабилет رحلة उड़ान"],
  ["hotel", "酒店 宾馆 ホテル 宿泊 호텔 숙소 отел гостиниц فندق होटल"],
  ["resta", "餐厅 饭店 美食 外卖 レストラン 식당 맛집 ресторан مطعم रेस्तरां"],
  ["music", "音乐 歌曲 播放 音楽 曲を 음악 노래 музык песн موسيقى संगीत"],
  ["calen", "日历 日程 会议 安排 予定 会議 カレンダー 일정 회의 календар встреч تقويم बैठक"],
  ["stock", "股票 股价 株価 주식 주가 акци سهم शेयर"],
  ["mail", "邮件 メール 이메일 메일 письм почт بريد ईमेल"],
  ["alarm", "闹钟 提醒 アラーム リマインダー 알람 알림 будильник напомин منبه अलार्म"],
  ["curre", "汇率 兑换 货币 美元 欧元 為替 ドル 円を 환율 달러 курс валют доллар عملة मुद्रा"],
  ["packa", "快递 包裹 物流 荷物 配送 택배 배송 посылк доставк طرد पार्सल"],
  ["produ", "商品 购买 商店 商品を 상품 구매 товар купить منتج उत्पाद"],
  ["direc", "路线 导航 怎么走 経路 道順 길찾기 경로 маршрут дорог اتجاهات रास्ता"],
  ["movie", "电影 影院 映画 영화 фильм кино فيلم फिल्म"],
  ["recip", "食谱 菜谱 レシピ 레시피 рецепт وصفة रेसिपी"],
  ["trans", "翻译 翻訳 번역 перевод перевед ترجم अनुवाद"],
  ["image", "图片 照片 画像 写真 이미지 사진 картинк фото изображен صورة तस्वीर"],
  ["datab", "数据库 数据 データベース 데이터베이스 базы данных база данных قاعدة डेटाबेस"],
  ["file", "文件 ファイル 파일 файл ملف फ़ाइल"],
  ["ticke", "门票 车票 工单 チケット 티켓 билет تذكرة टिकट"],
  ["user", "用户 ユーザー 사용자 пользовател مستخدم उपयोगकर्ता"],
  ["order", "订单 下单 订购 点餐 注文 주문 заказ طلب ऑर्डर"],
].map(([stem = "", words = ""]) => [stem, words.split(" ")] as const);

function conceptsOf(...groups: readonly string[]): ReadonlyMap<string, string> {
  const lists = groups.map((group) => group.split(" ").map((word) => word.slice(0, STEM_CHARS)));
  return new Map(lists.flatMap(([first = "", ...others]) => others.map((stem) => [stem, first] as const)));
}

/** Returns the stem that a word is compared by. */
export function stemOf(word: string): string {
  const stem = word.slice(0, STEM_CHARS);
  return CONCEPTS.get(stem) ?? stem;
}

/** Words of scripts with blanks, and runs of scripts without. Texts in lower case. */
const WORDS =
  /[a-z\u00df-\u024f]{3,24}|[\u0370-\u1fff]{3,24}|[\u3040-\u30ff\u3400-\u9fff]{2,40}|[\uac00-\ud7a3]{2,12}/g;

/** The first words of a text in lower case. Chinese and Japanese have no blanks: each pair of characters is a word. */
export function wordsIn(lower: string, most: number): readonly string[] {
  const words: string[] = [];
  for (const word of lower.match(WORDS) ?? []) {
    if (words.length >= most) break;
    const code = word.charCodeAt(0);
    if (code >= FIRST_HANGUL) words.push(word.slice(0, HANGUL_CHARS));
    else if (code < FIRST_KANA) words.push(word);
    else for (let at = 0; at + 1 < word.length && words.length < most; at++) words.push(word.slice(at, at + 2));
  }
  return words;
}

const FIRST_KANA = 0x3040;
const FIRST_HANGUL = 0xac00;
/** Endings begin after so many syllables in most Korean words. */
const HANGUL_CHARS = 2;

/** The words of a name: `getWeather`, `get_weather` and `weather.get` have two each. */
export function splitName(name: string): readonly string[] {
  const spaced = name.slice(0, 80).replace(/([a-z])([A-Z])/g, "$1 $2");
  return spaced.toLowerCase().match(/[a-z]{3,24}/g) ?? [];
}
