/** Words for reading and judging what is there: the act, the findings, the doubt, and what is judged. */
import type { CueGroup } from "./cue-group.ts";

export const REVIEW_CUES: readonly CueGroup[] = [
  {
    name: "a request to look",
    words: `review|reviews|reviewed|reviewing|reviewer|re-review|audit*|critique*|proofread*|inspect*|look over|look at|look through|go over|go through|going over|read through|read over|a look|once over|once-over|skim|sanity check|double check|double-check|second pair of eyes|eyes on|pair of eyes|cast an eye|give it a read|assess*|evaluat*|vet|check over|walk through|examin*|peek|glance|
      review*|prufen|pruf|prufe|uberpruf*|durchsehen|anschauen|anschaut|anguckst|angucken|anzuschauen|drubersehen|druberschau*|drubergucken|drubergehen|begutacht*|durchles*|durchgeh*|ansehen|beurteil*|bewert*|lies|lest|schau|schauen|blick|sichte*|
      relis|relire|relisez|relecture|revue|revoir|jeter un|jette un|jetez un|coup d'oeil|examine*|verifie|verifier|verifiez|verifies|verifions|verifiant|audit*|evalue*|parcour*|regarde*|regarder|lire|passer en revue|
      revisa|revisad*|revisar*|revisen|revisemos|revisalo|revisame|revise|una revision|la revision|revision de|revision del|echa un|echar un|echale un|echas un|ojo|vistazo|audit*|mira|mirar|evalua*|leer|lee|leelo|repasa*|analiza*|examina*|comprueba*|
      revisa|revisar*|revise|revisem|revisao|revisoes|revisando|olhada|olhar|da uma|dar uma|audit*|avali*|leia|ler|analis*|confere|conferir|examin*|verifique*|verifica|verificar*|verificando|verificou|
      rivedi|rivedere|revisione|revisioni|revisionare|revisiona|occhiata|controlla*|dai un'occhiata|guarda|guardare|leggi|leggere|valuta*|verifica|verificare|verificate|verificando|verificalo|esamina*|dare un|ricontroll*|rileggi*|
      nakijk*|kijk|kijken|bekijk*|meekijk*|doorlez*|doornemen|beoordel*|review*|controleer*|blik|nalez*|doorlopen|lees|loop door|
      przejrzyj*|przejrze*|przeglad*|zerknij*|zerkn*|rzuc*|okiem|ocen*|sprawdz*|przeczyta*|zrecenzuj|recenzj*|weryfik*|obejrz*|spojrz*|
      посмотр*|глян*|просмотр*|ревью|отревью*|провер*|оцен*|прочита*|прочти*|аудит*|взгля*|изучи*|
      bakar misin|goz at*|gozden gecir*|incele*|bakin|bak|bakabilir*|bakman|degerlendir*|kontrol et*|oku|okuyup|goz gezdir*|denetle*|inceleme*|
      レビュー|見て|確認して|確認を|チェック|目を通|読んで|監査|見直し|ご覧|査読|評価|리뷰|봐 주|봐줘|봐주|검토|살펴|훑어|읽어|확인해|점검|감사|평가|검수|
      看看|看一下|看下|审查|审阅|评审|检查|过目|审一下|过一遍|review|审核|把关|读一下|看一遍|帮忙看|审计|评估一下|评一下|瞅|
      zkontroluj*|zreviduj*|revizi|revize|kontrola|kontrolu|audit*|mrkn*|podivej*|koukn*|projdi|projdete|precti*|precte|posoud*|zhodnot*|proverit|proverte|переглян*|перегляд*|подиви*|
      глян*|перевір*|оціни*|оцінка|оцінк*|прочита*|аудит*|погляд*|пройди*|рев'ю|granska*|granskning*|titta*|kolla*|las igenom|lasa|ga igenom|gar igenom|bedom*|genomgang*|recensera|
      en revision|revision av|revisionen|utvarder*|evaluate|evaluation|second pair of eyes|eyes on|lgtm|ptal|rfr|penetration test|
      समीक्षा|जांच|जाँच|देखकर|देख लो|देख लें|راجع|مراجعة|ألق نظرة|تدقيق|افحص|فحص|tinjau*|periksa|cek kode|lihat kode|review kode|xem giúp|xem qua|đánh giá|rà soát|review giúp`,
  },
  {
    name: "an opinion wanted",
    words: `opinion*|thoughts|feedback|what do you think|what you think|do you think|tell me what|tell me if|tell me whether|let me know|comments|comment|verdict|second opinion|critical|honest|honestly|am i|did i|have i|is it ok|is it okay|is this ok|is this okay|ok to|would you approve|judg*|advice|sane|impression*|what would you say|rate|grade|make sense|makes sense|
      meinung*|feedback|was haltst|was halten|was meinst|was sagst|ehrlich*|einschatzung*|sag mir|sagt mir|sagen sie|gib bescheid|ruckmeldung*|kommentar*|anmerkung*|kritisch*|kritik|sinnvoll|in ordnung|okay so|findest|
      avis|qu'en penses|qu'en pensez|ton avis|votre avis|ce que tu penses|dis-moi|dites-moi|dis moi|me dire|retour|retours|commentaire*|remarque*|critique|penses|
      opinion*|que opinas|que opinais|que te parece|que os parece|dime|decidme|decirme|digame|comentario*|parecer|critica|segunda opinion|juicio|que tal|
      opiniao|opinioes|o que acha*|o que voce acha|me diz|me diga|diga|comentario*|parecer|critica|acham|acha|feedback|veredito|
      parere|pareri|opinion*|che ne pensi|che ne pensate|cosa ne pensi|cosa ne pensate|dimmi|ditemi|secondo te|secondo voi|commenti|giudizio|critica|
      mening|meningen|wat vind|wat vinden|vind je|feedback|laat weten|vertel me|zeg me|zeg maar|commentaar|opmerking*|oordeel|kritisch*|
      opini*|co sadzisz|co myslisz|co sadzicie|daj znac|powiedz*|komentarz*|uwag*|krytycz*|zdaniem|wedlug ciebie|
      мнени*|что думае*|как тебе|как вам|скажи*|замечан*|коммент*|отзыв*|критик*|обратн*|ваше слово|напиши, что|
      fikr*|gorus*|dusun*|soyle*|yorum*|elestir*|sence|sizce|geri bildirim*|geribildirim*|
      意見|感想|どう思|コメント|フィードバック|教えて|指摘|ご指摘|所感|見解|의견|피드백|코멘트|어떤지|생각|알려|지적|조언|어때|말해|
      意见|怎么看|觉得|看法|反馈|评价|点评|评论|告诉我|建议|说说|指出|帮我判断|合理|
      nazor*|co si myslis|co myslite|rekni|reknete|pripomink*|zpetn* vazb*|komentar*|posudek|think of|думк*|що скаже*|що думає*|скажи*|відгук*|зауваж*|коментар*|критик*|asikt*|synpunkt*|
      vad tycker|vad tror|sag vad|aterkoppling|kommentar*|omdome|kritik|
      राय|सुझाव|बताओ|बताइए|बताएं|फीडबैक|कैसा है|कैसी है|رأيك|ملاحظات*|ملاحظاتك|اقتراحات*|pendapat*|masukan|menurutmu|menurut kalian|góp ý|nhận xét|ý kiến|thấy sao`,
  },
  {
    name: "findings wanted",
    words: `findings|list of findings|issues you find|problems you find|weaknesses|weak spots|holes|loopholes|vulnerabilit*|smells|code smells|red flags|anything off|anything weird|anything suspicious|anything i missed|did i miss|missed|miss anything|overlooked|concerns|severity|nitpick*|nits|report on|short report|written report|risky|risks|flaws|pitfalls|shady|dodgy|point out|flag anything|what's bad|sloppy|gaps|blind spots|edge cases|
      befund*|schwachstell*|schwachen|lucken|auffallig*|auffallt|ubersehen|risik*|bedenken|mangel|was dir auffallt|mankos|verdachtig*|
      constat*|failles|faille|faiblesse*|points faibles|douteux|louche|oublie*|risques|lacune*|ce qui cloche|suspect*|
      hallazgos|debilidad*|vulnerabilidad*|puntos debiles|sospechos*|se me escapa|pasado por alto|riesgos|fallos de|pegas|informe|
      achados|vulnerabilidad*|pontos fracos|suspeit*|deixei passar|riscos|falhas de|brechas|relatorio|gambiarra|fraquezas|
      punti deboli|vulnerabilit*|criticita|sospett*|sfuggit*|rischi|lacune|rilievi|falle|
      bevindingen|zwakke plekken|zwakke|kwetsbaar*|gemist|risico*|verdacht*|gaten|aandachtspunt*|
      znalezisk*|slaby|slaba|slabe|slabo|slabych|slabym|slabos*|podejrzan*|przeoczy*|ryzyk*|dziur*|luk*|zastrzezen*|podatnosc*|
      уязвим*|слаб*|подозрительн*|упустил*|риск*|дыр*|узк*|недочет*|косяк*|слабые места|
      bulgu*|zayif*|acik var|aciklar*|supheli|kacirdi*|gozden kac*|riskler*|eksiklik*|
      問題点|懸念|気になる|見落と|脆弱|リスク|弱点|怪しい|指摘事項|問題がないか|漏れ|문제점|취약|놓친|우려|위험|빠뜨린|허점|문제 없는지|문제없|의심|
      漏洞|隐患|遗漏|风险点|问题点|薄弱|可疑|有没有问题|有无|疏漏|漏掉|坑|
      diry|slabin*|zranitel*|rizik*|podezrel*|prehled*|nedostatk*|zjisteni|вразлив*|слабк*|ризик*|дірк*|підозріл*|недолік*|витік|витоки|витоків|sarbarhet*|svaghet*|risker|misstankt*|
      brister|luckor|hal i|nagot farligt|
      कमियां|कमी|खामियां|عيوب|ثغرات|نقاط الضعف|kekurangan|celah keamanan|kelemahan|điểm yếu|lỗ hổng|thiếu sót`,
  },
  {
    name: "a question about soundness",
    words: `is this|is that|is it|are these|are we|is the|are the|is my|is our|safe|secure|correct|idiomatic|readable|maintainable|reasonable|sound|solid|thread safe|thread-safe|race condition*|leak*|compliant|production ready|production-ready|good enough|overkill|clean|best practice*|anti-pattern|antipattern|really|actually|legit|hold up|robust|trustworth*|constant time|up to standard|can someone|could someone|could an attacker|inject*|quality|
      ist das|ist die|ist der|ist unser*|sind die|sicher|korrekt|sauber|lesbar|wartbar|vertretbar|threadsafe|belastbar|tragfahig|qualitat|halt das|reicht das|datenschutz*|
      est-ce que ce|est-ce que cette|est-ce que notre|est-ce bien|est-ce|sur|fiable|propre|lisible|maintenable|correct|securise*|qualite|tient la route|solide|conforme|raisonnable|
      es seguro|es segura|es correct*|esta bien|seguro|segura|seguridad|legible|mantenible|calidad|fiable|razonable|aguanta|tiene sentido|
      e seguro|esta certo|esta correto|seguro|segura|seguranca|legivel|sustentavel|qualidade|confiavel|faz sentido|aguenta|
      e sicur*|va bene|corretto|corretta|sicuro|sicura|sicurezza|leggibil*|mantenibil*|qualita|affidabil*|ha senso|regge|
      is dit|is dat|is deze|is onze|veilig*|correct|netjes|nette|leesbaar*|onderhoudbaar*|kwaliteit|betrouwbaar*|klopt|deugt|
      czy to|czy ten|czy ta|czy nasz*|bezpieczn*|poprawn*|czyteln*|sensown*|jakosc*|ma sens|wystarczajac*|
      безопасн*|корректн*|правильно ли|нормально ли|надежн*|читаем*|качеств*|ли это|адекватн*|нет ли|ли он|ли там|годится|
      guvenli|guvenlik|dogru mu|mantikli*|temiz mi|okunakli|kalite*|saglam|uygun mu|yeterli mi|iyi mi|sorun var mi|
      安全|大丈夫|問題ない|妥当|適切|品質|読みやす|正しい|でしょうか|かどうか|ないか|ありませんか|안전|괜찮|적절|맞는지|품질|타당|가독|올바른지|문제가 없는지|인지|는지|
      安全吗|安全性|合理吗|规范|靠谱|质量|可维护|可读|正确性|有没有|是否|行不行|会不会|对不对|可不可以|
      je to|je ta|je ten|je nase|jsou nase|bezpecn*|spravne|cist*|kvalit*|spolehliv*|citeln*|v poradku|чи це|чи ми|чи є|чи все|чи правильн*|чи безпечн*|безпечн*|надійн*|якіст*|якост*|
      коректн*|охайн*|ar det|ar den|ar var|ar koden|saker|sakert|saker*|korrekt|rimlig*|robust*|lasbar*|kvalitet*|palitlig*|rent|
      क्या यह|क्या ये|सही है|सुरक्षित|ठीक है|هل هذا|هل هذه|هل هو|آمن|صحيح*|apakah ini|apakah|sudah benar|aman|có an toàn|đã đúng chưa|có đúng|có ổn`,
  },
  {
    name: "what is judged",
    words: `pr|prs|pull request*|merge request*|mr|branch|diff|patch|commit|commits|changeset|my code|this code|the code|code of|snippet|draft|before i merge|before we merge|before merging|before merge|merge it|merged|before release|before we ship|before it ships|before go-live|before launch|before we sign|before the release|before it goes|contractor*|junior|intern|freelancer*|vendor*|agency|colleague*|wrote|i wrote|i've written|auditor*|approach|my approach|
      branch|mein code|den code|der code|der praktikant*|praktikant*|azubi|werkstudent*|vor dem merge|bevor ich|bevor wir|bevor das|vor dem release|entwurf|dienstleister*|geschrieben|externer|
      ma branche|mon code|le code|stagiaire*|prestataire*|avant de merger|avant de fusionner|avant la mise|avant le merge|avant qu'on|brouillon|j'ai ecrit|notre code|
      mi rama|mi codigo|el codigo|becari*|proveedor*|antes de mergear|antes de fusionar|antes de publicar|antes de subir|antes de cargar|he escrito|colaborador*|
      meu codigo|o codigo|estagiari*|fornecedor*|antes do merge|antes de mergear|antes de subir|antes de publicar|escrevi|terceirizad*|minha branch|
      mio codice|il codice|stagista|fornitore|prima del merge|prima di unire|prima di pubblicare|prima del rilascio|ho scritto|mio branch|consulente|
      mijn code|de code|stagiair*|leverancier|voor de merge|voordat ik|voordat we|voor ik|geschreven|
      moj kod|kod|kodu|stazyst*|dostawc*|przed mergem|przed scaleniem|przed wydaniem|zanim|napisal*|galaz|
      мой код|код|кода|стажер*|подрядчик*|перед мержем|перед слиянием|перед релизом|перед тем как|написал*|ветк*|дифф|
      kodum*|kodu|stajyer*|tedarikci*|merge etmeden|birlestirmeden|yayina almadan|yazdi*|canliya|
      マージ前|リリース前|公開前|差分|プルリク|コード|新人|外注|業者|書いた|書きました|ブランチ|머지 전|배포 전|릴리스 전|코드|신입|외주|작성한|브랜치|짠|
      合并前|上线前|发布前|代码|分支|实习生|外包|写的|提交前|新人|供应商|合之前|
      muj kod|kod|vetev|vetvi|pred mergem|pred sloucenim|muj pr|мій код|код|коді|мою гілку|гілк*|перед злиттям|до злиття|min kod|koden|min gren|grenen|fore merge|innan jag mergar|
      andringen|min pr|
      मेरा कोड|मेरे कोड|मेरी ब्रांच|कोड|الكود|كودي|فرعي|الشيفرة|kode saya|branch saya|đoạn code|code của|branch của`,
  },
  {
    name: "a doubt",
    words: `worried|unsure|not sure|not convinced|suspicious|don't trust|dont trust|never trusted|scared|nervous|uneasy|uncomfortable|feels off|feels wrong|gut feeling|fishy|hacky|smells|curious|wondering|confident|embarrass*|
      unsicher|sorge|sorgen|traue|misstrau*|komisch vor|bauchgefuhl|nicht sicher|ungutes|
      pas sur|pas sure|j'ai peur|inquiet*|mefie|doute|pas confiance|
      no estoy segur*|me preocupa|no me fio|dudas|duda|desconfi*|no me convence|
      nao tenho certeza|me preocupa|nao confio|duvida*|desconfi*|medo|inseguro|
      non sono sicur*|mi preoccupa|non mi fido|dubbi*|ho paura|non mi convince|
      niet zeker|twijfel*|vertrouw|onzeker|bezorgd|
      nie jestem pew*|boje sie|martwi*|watpliw*|nie ufam|
      не уверен*|боюсь|сомнева*|не доверя*|смуща*|переживаю|
      emin degil*|endise*|korkuyorum|supheliyim|guvenmiyorum|icime sinmedi|
      不安|自信がな|心配|怪し|불안|자신이 없|걱정|확신|担心|不放心|不确定|心里没底|没把握|怕|
      nejsem si jist*|bojim se|obav*|pochyb*|не певен|не впевнен*|боюся|сумніва*|osaker|orolig|litar inte|tveksam`,
  },
];
