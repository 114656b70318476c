"""The language of FAQs whose publishers state none."""

from typing import Final

import pytest

from faqsvc_embed.files.detection import detect_language
from faqsvc_embed.models import Item

# One FAQ a line, with each answer behind its question.
JAPANESE: Final = """
送料はいくらですか？|全国一律550円です。5,000円以上のご注文で送料無料になります。
支払い方法は？|クレジットカード、PayPay、銀行振込
解約方法|マイページ→設定→解約
キャンセル料|当日100%、前日50%
配送料金|全国一律五百円|支払方法|代金引換、銀行振込|返品|八日以内
営業時間|午前九時|駐車場|有|送料|無料
営業時間|平日午前九時～午後六時
対応機種|全機種対応
年会費|永年無料
入会金|五千円
最寄駅|新宿駅徒歩五分
「您好」はどういう意味ですか？|中国語で「こんにちは」という意味です。
「我们」と「咱们」の違いは？|「咱们」は聞き手を含みます。
习近平さんの本はありますか？|はい、図書館にあります。
李小龙の映画は上映されますか|毎週土曜日に上映しています。
微信支付は使えますか？|はい、支付宝も使えます。
個人情報の取扱い|第三者に提供しません。
"""
SIMPLIFIED: Final = """
运费多少？|满99元包邮。
营业时间|周一至周五
发票|可开具
有没有停车场|有
什么是“カラオケ”？|卡拉OK是一种来自日本的娱乐活动。
我们的品牌“の物”是什么？|这是一个来自北京的家居品牌。|ファミマ支持吗？|支持。
营业时间|上午九点|日本的の|中国
优衣库和无印良品的の字是什么意思？|是日语助词，表示“的”。
鲜の每日好吃吗？|很好吃，每天现做。
有“あいうえお”字帖吗？|有，还有“カキクケコ”字帖。
“こんにちは”怎么读？|读作“孔尼奇瓦”。
「ありがとう」是什么意思？|是“谢谢”的意思。
ポケモンセンター在哪里？|在车站旁边。
有日文版的说明书吗？|有，名为“取扱説明書”，共三十页。
"""
TRADITIONAL: Final = """
運費多少？|滿千免運。
營業時間|上午九點至下午六點
香港有分店嗎？|有，在旺角同尖沙咀。
我們的店名「幸福の家」有什麼意思？|幸福的家的意思。
鮮の味好吃嗎？|很好吃，每天現做。
「ありがとう」是什麼意思？|是「謝謝」的意思。
ファミマ可以取貨嗎？|可以。
"""
OTHERS: Final = {
    "ko": """
배송비는 얼마인가요?|3만원 이상이면 무료입니다.
'ありがとう'는 무슨 뜻인가요?|감사하다는 뜻입니다.
大韓民國 국적이 필요한가요?|아니요.
""",
    "en": """
How much is shipping?|It is free from 50 pounds.
What does 無料 mean?|It means free of charge.
May I bring a dog?|I am afraid not.
""",
    "de": """
Was kostet der Versand?|Ab 50 Euro ist er kostenlos.
Was heißt カラオケ?|Leeres Orchester.
""",
    "fr": """
Combien coûte la livraison ?|Elle est gratuite dès 50 euros.
Y a-t-il un parking ?|Oui, il y a un parking pour vous.
""",
    "es": """
¿Cuánto cuesta el envío?|Es gratis a partir de 50 euros.
Horario|Lunes y martes
Menú y precios|10 euros
""",
}
MIXED: Final = {
    "zh": """
如何安装？|运行 `pip install "faqsvc-embed[service]"`。[文档](https://docs.example.com/guides/on/linux)
如何安装？|pip install faqsvc-embed|如何更新？|pip install --upgrade faqsvc-embed
日志在哪里？|/var/log/faqsvc/this/is/what/you/are/looking/for.log
支持哪些支付方式？|Visa, Mastercard, American Express, Apple Pay, Google Pay, PayPal
“Where is the station?”怎么说？|车站在哪里？
可以在ポケモンセンター自取吗？|可以，请在下单时选择门店，凭订单号和身份证件到店领取。
""",
    "ko": """
문의는 어디로?|customer.service@international.example.com https://docs.example.com/guides/on/linux
iPhone 15 Pro Max 배송?|DHL Express로 3일
어떤 카드를 받나요?|Visa, Mastercard, American Express, Apple Pay, Google Pay, PayPal
설정은 어디에 있나요?|Settings > Privacy and Security > Terms of Use
배송비는 얼마인가요?|무료입니다.
'How are you'는 무슨 뜻인가요?|안부를 묻는 말입니다.
「ありがとう」는 무슨 뜻인가요?|감사하다는 뜻의 일본어입니다.
""",
    "ja": """
iPhone 15 Pro Max の送料は？|DHL Express International
ﾊｲｿｳ ﾊ ｲﾂ?|App Store
「감사합니다」はどういう意味ですか？|ありがとうという意味です。
""",
    "de": """
Wie installiere ich es?|https://docs.example.com/how/to/install/what/you/have
Wie installiere ich es?|`make the best of what you have`
Wie sehe ich das Log?|```↵journalctl --unit for-this-and-that --if you can↵```
Was heißt 你好 auf Deutsch?|你好 heißt Hallo, 谢谢 heißt Danke.
Wer ist 김민준?|Er leitet unseren Laden.
Akzeptieren Sie 支付宝?|Ja, und 微信支付.
""",
    "en": """
How do I install it?|`der die das ist und nicht el los las una del`
What does 안녕하세요 mean?|Hello.|How do I say thank you?|감사합니다, 고마워요.
Where is your Tokyo office?|東京都千代田区丸の内1-1-1
""",
    "fr": """
Comment installer le module ?|```↵for this and that if you can↵```
Où est votre bureau à Séoul ?|서울특별시 강남구 테헤란로 123
""",
    "es": """
¿Cómo instalo el módulo?|what.is.this.and.that@the-best-of-you.example
¿Cómo se dice hola en coreano?|안녕하세요.
""",
}
"""FAQs with code, addresses, names and words of other languages, which must not decide the language."""
FAQS: Final = {"ja": JAPANESE, "zh": SIMPLIFIED + TRADITIONAL, **OTHERS}


def items_of(faq: str) -> list[Item]:
    texts = faq.replace("↵", "\n").split("|")
    return [Item(index, *pair) for index, pair in enumerate(zip(texts[::2], texts[1::2], strict=True))]


def test_the_language_of_an_faq_is_detected() -> None:
    for lang, faqs in (*FAQS.items(), *MIXED.items()):
        for faq in filter(None, faqs.split("\n")):
            assert (faq, detect_language(items_of(faq))) == (faq, lang)


@pytest.mark.parametrize("faqs", [JAPANESE, SIMPLIFIED, TRADITIONAL], ids=["ja", "hans", "hant"])
def test_many_questions_are_in_the_language_of_each(faqs: str) -> None:
    items = items_of("|".join(faqs.split("\n")[1:-1]))
    assert detect_language(items) == ("ja" if faqs == JAPANESE else "zh")


@pytest.mark.parametrize("faq", ["返金|不可", "Wi-Fi|無料"])
def test_text_that_both_japanese_and_chinese_can_be_counts_as_chinese(faq: str) -> None:
    assert detect_language(items_of(faq)) == "zh"


@pytest.mark.parametrize(
    "faq", ["Refundable?|Y", "Vegan?|n.", "OK?|y", "A?|B|C?|D|E?|F", "ok?|ok|ok?|ok|ok?|ok", "1?|2"]
)
def test_single_letters_and_words_of_all_languages_say_nothing(faq: str) -> None:
    assert detect_language(items_of(faq)) is None
