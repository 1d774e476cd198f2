/** Words that bound the request: hands off the code, words only, not yet; and politeness, which says nothing alone. */
import type { CueGroup } from "./cue-group.ts";

export const SCOPE_CUES: readonly CueGroup[] = [
  {
    name: "hands off",
    words: `don't change|dont change|do not change|don't touch|dont touch|do not touch|don't fix|dont fix|do not fix|don't edit|dont edit|don't rewrite|dont rewrite|do not edit|do not rewrite|don't modify|do not modify|no changes|no edits|no fixes|without changing|without touching|not asking for|not asking you|leave it|leave the code|leave as|read only|read-only|hands off|nothing changed|nobody is touching|not touching|no rewrite|i'll fix|i will fix|i'll do|i'll change|change nothing|touch nothing|fix nothing|not to change|not fix|rather than fix|don't need it fixed|
      nicht andern|nichts andern|nichts anfassen|nicht anfassen|ohne etwas zu|nichts umbauen|nicht umschreiben|ohne anderungen|keine anderungen|nichts fixen|nicht fixen|nur lesen|andern mach|nicht beheben|noch nicht anfassen|nichts veranderen|nichts veraendern|
      sans rien modifier|sans modifier|ne modifie rien|ne change rien|ne touche*|ne corrige*|pas modifier|pas toucher|sans toucher|pas qu'on|ne changez|ne modifiez|ne rien|sans rien|
      sin cambiar|sin tocar|sin modificar|no cambies|no toques|no toqueis|no modifiques|no hace falta cambiar|no arregl*|no hay que|no cambiar|no lo cambies|no tocar|
      nao precisa mexer|nao mexa|nao mexe|nao altere|sem mexer|sem alterar|nao mude|nao corrija|nao conserta*|nao toque|sem tocar|
      senza modificare|senza toccare|senza cambiare|non toccare|non modificare|non cambiare|non correggere|non serve|
      niet aanpassen|niks aanpassen|niets aanpassen|niks veranderen|niets veranderen|niet veranderen|niet aankomen|zonder iets|niks wijzigen|niet fixen|
      nic nie zmieniaj|nie zmieniaj*|nie ruszaj*|nie poprawiaj*|bez zmian|bez poprawek|nie dotykaj*|nic nie ruszaj|
      ничего не меня*|не меняй*|не трога*|ничего не трога*|не исправля*|без правок|править не|чинить не|не правь*|не переписыв*|без изменений|менять не|
      degistirme*|dokunma*|duzeltme*|degisiklik yapma*|bir sey degistir*|dokunmadan|degistirmeden|
      触らない|変更しないで|変更は不要|修正は不要|直さなく|修正しなく|修正は|いじらない|変更不要|修正不要|手を入れ|書き換えな|수정하지|수정은|고치지|건드리지|바꾸지|변경하지|손대지|
      不用改|不要改|别改|先别动|不需要修改|不需要动手|别动|不要动|不用修|不要修改|不改|无需修改|先不要|不动代码|不要直接|
      nic nemen*|nemen*|nesahej*|neopravuj*|bez zmen|beze zmen|нічого не чіпа*|не чіпа*|не змінюй*|не міняй*|без змін|не виправля*|andra inget|ror inget|ror inte|inga andringar|
      utan att andra|fixa inte|
      बदलना मत|मत बदल*|मत छू*|لا تغير|بدون تغيير|لا تعدل|jangan diubah|jangan ubah|tanpa mengubah|đừng sửa|không sửa`,
  },
  {
    name: "words only",
    words: `just tell me|only tell me|just comments|only comments|comments only|just an opinion|just your|just the list|just list|only a list|just a list|i only need|i only want|just need a|just need to know|i just want to know|just want to know|just say|only want|list only|just write|in writing|written|a page|one page|two pages|one-pager|one pager|a document|a doc|bullet points|markdown|a list|a table|
      nur meinung|nur kommentare|nur feedback|nur die liste|nur liste|nur eine liste|nur anmerkungen|nur sagen|reicht mir|schriftlich|nur hinweise|nur einschatzung|
      juste ton avis|juste un avis|seulement|juste me dire|uniquement|une liste|juste la liste|par ecrit|je veux juste|juste savoir|liste|
      solo dime|solo comentarios|solo quiero|solo opinion|una lista|solo la lista|por escrito|solo saber|solo necesito|
      so me diz|so comentarios|so quero|so opiniao|uma lista|so a lista|por escrito|so preciso|apenas|
      solo dimmi|solo commenti|solo un parere|solo opinioni|un elenco|una lista|solo sapere|per iscritto|dimmi solo|mi basta|
      alleen feedback|alleen opmerkingen|alleen een lijst|alleen commentaar|een lijst|lijstje|gewoon zeggen|op papier|alleen maar|
      tylko komentarz*|tylko uwagi|tylko liste|tylko opini*|lista|liste|wystarczy|na pismie|tylko powiedz|
      только коммент*|только список|только мнение|только замечания|список|достаточно|письменно|просто скажи*|только|
      sadece yorum*|sadece liste*|sadece fikir*|sadece|liste|listesi|yeterli|yazili|
      だけで|のみで|のみ|一覧|リスト|文書|だけください|だけ教|だけで十分|만 해|만 주|만 남|만 알려|목록|문서로|만 말|만 부탁|의견만|
      只要|就行|就好|只需|列表|清单|列出来|文档|即可|写成|列一下|列出|
      jen nazor|jen komentare|seznam|jen rekni|staci|pisemne|лише коментар*|тільки коментар*|список|достатньо|лише скажи|bara kommentar*|lista|racker|skriftligt|bara saga|report only|
      findings only`,
  },
  {
    name: "not yet",
    words: `yet|for now|first|before we start|before anyone|before anybody|before touching|before coding|before writing|before any|no code|not code|code later|no code yet|no coding|before implementation|before i start|before starting|not implementing|don't implement|dont implement|do not implement|not ready to|don't start|dont start|do not start|don't build|don't write|dont code|don't code|nobody touch*|no implementation|later|then we decide|so we can decide|
      noch nicht|erstmal|erst mal|zuerst|vorab|bevor jemand|bevor wir anfangen|kein code|keinen code|noch nichts|vorerst|noch kein|ohne code|code kommt|spater|
      pour l'instant|d'abord|avant de coder|avant de commencer|avant toute|pas encore|pas de code|sans coder|aucun code|rien coder|n'implemente*|avant d'ecrire|avant de toucher|
      todavia no|aun no|de momento|por ahora|antes de empezar|antes de tocar|antes de escribir|sin codigo|nada de codigo|primero|antes de que nadie|sin programar|
      ainda nao|por enquanto|antes de comecar|antes de mexer|antes de codar|sem codigo|nada de codigo|primeiro|antes que alguem|nao implementa*|nao coda*|
      per ora|prima di iniziare|prima di toccare|prima di scrivere|prima di|niente codice|ancora niente|non ancora|senza codice|per il momento|non scrivere|
      nog niet|nog niks|nog geen|voorlopig|eerst|voordat iemand|voordat we beginnen|geen code|zonder code|
      na razie|jeszcze nie|najpierw|zanim ktos|zanim zaczniemy|bez kodu|zadnego kodu|bez kodowania|nie koduj*|nie pisz|
      пока не|пока ничего|пока|сначала|прежде чем|до начала|код не|код пока|без кода|кода пока|не пиши|не пишите|кодить не|
      henuz|simdilik|daha once|once bir|once plan*|once oneri*|en once|ilk once|bundan once|etmeden once|yazmadan once|baslamadan once|once konus*|yapmadan once|baslamadan|kod yazma*|kod sonra|kodsuz|kodlamaya baslamadan|daha kod|kod yok|
      まだ|まずは|とりあえず|着手前|コードは書かな|実装はまだ|実装前|先に|コードはまだ|実装しない|今は|コード不要|아직|우선|먼저|코드는|구현은|구현 전|코딩 전|시작하기 전|일단|지금은|
      先别|暂时|先不|先给|先列|先写|还不|写代码之前|不写代码|不要写代码|别写代码|动手前|先出|先帮|之前|
      zatim|nejdriv|nez zacne*|nez se|jeste ne|bez kodu|поки|спочатку|спершу|ще не|до коду|без коду|innan nagon|innan vi|forst|an sa lange|inte an|ingen kod|inget an|
      कोड नहीं|कोड मत|अभी नहीं|पहले|بدون كود|لا تكتب كود|قبل البدء|jangan coding|tanpa kode|chưa code|chưa viết code|trước khi làm`,
  },
  {
    name: "a courtesy",
    words: `please|pls|plz|could you|can you|would you|can u|could u|thanks|thank you|thx|cheers|hi|hello|hey|dear|bitte|danke|hallo|s'il te plait|s'il vous plait|stp|svp|merci|bonjour|por favor|porfa|gracias|hola|obrigad*|oi|ola|per favore|grazie|ciao|alsjeblieft|aub|bedankt|hoi|beste|prosze|dzieki|czesc|пожалуйста|плиз|спасибо|привет|lutfen|tesekkur*|merhaba|selam|ください|お願い|주세요|감사|부탁|请|谢谢|麻烦|你好|您好|帮|
      prosim|diky|dekuji|ahoj|dobry den|будь ласка|дякую|привіт|вітаю|snalla|tack|hej|
      कृपया|प्लीज़|धन्यवाद|من فضلك|رجاء|شكرا|tolong|mohon|terima kasih|giúp em|giúp mình|làm ơn|cảm ơn`,
  },
];
