/** Words for a fault: what goes wrong, since when, and the wish to know why. One line for each language or two. */
import type { CueGroup } from "./cue-group.ts";

export const DEBUG_CUES: readonly CueGroup[] = [
  {
    name: "a fault",
    words: `bug|bugs|buggy|error|errors|erroring|crash*|exception*|failure*|regression*|outage*|incident*|segfault*|panic*|defect*|glitch*|
      fehler|fehlers|fehlermeldung*|absturz*|abgesturzt*|ausnahme|storung*|panne*|
      erreur*|plantage*|plante|plantent|plantait|panne*|anomalie*|
      error|errores|fallo|fallos|falla|fallan|averia*|cuelgue*|
      erro|erros|falha|falhas|deu pane|em pane|uma pane|pane na|pane no|travamento*|errore|errori|guasto*|anomalia*|crasha*|
      fout|fouten|foutmelding*|een storing|de storing|storing bij|storingen|storingsmelding*|blad|bledy|bledow|bledu|bledem|awari*|usterk*|
      ошибк*|баг|баги|бага|сбой|сбои|сбоит|авари*|hata|hatasi|hatalar*|hataya|ariza*|cokme*|
      エラー|バグ|不具合|例外|障害|クラッシュ|오류|에러|버그|장애|예외|크래시|错误|报错|故障|异常|崩溃|问题|闪退|
      chyb*|zavad*|pad aplikace|vyjimk*|selhan*|preklep*|помилк*|баги|баг|збіи|збої|аварі*|виняток|виключенн*|fel|felet|felmeddelande*|krasch*|avbrott*|undantag*|stavfel*|typo|typos|
      bugfix*|nullpointer*|npe|
      problem*|probleem*|проблем*|issue with|issues with|issue when|issues when|trouble with|issue on|issue in|
      बग|त्रुटि*|एरर|समस्या|क्रैश*|दिक्कत|गड़बड़*|خطأ|أخطاء|خلل|مشكلة|عطل|galat|kesalahan|masalah|kendala|bị lỗi|báo lỗi|lỗi khi|lỗi ở|sự cố`,
  },
  {
    name: "something fails",
    words: `fail|fails|failed|failing|break|breaks|broke|broken|crashes|crashed|crashing|hang|hangs|hung|hanging|freezes|froze|freezing|throws|threw|throwing|dies|died|
      oom|oomkilled|restarts|disappear*|vanish*|drops|dropped|flak*|dead|garbled|explodes|chokes|stuck|deadlock*|leak|leaks|leaking|timeout*|timed out|times out|loops|
      schlagt fehl|fehlschlag*|fehlgeschlagen|kaputt*|sturzt|hangt|bricht|abgebrochen|friert|verschwind*|verschwunden|klemmt|stirbt|haut ab|spinnt|
      echoue*|casse|cassee|casses|cassait|bloque|bloquee|fige|figee|disparai*|disparu*|tombe|rame|
      falla|fallan|fallando|fallo|rompe|rompio|roto|rota|cuelga|congela|desaparec*|peta|bloquea|se cae|revienta|
      falha|falham|falhando|quebra|quebrou|quebrad*|trava|travou|travando|cai|caiu|some da|some do|some quando|some ao|some depois|e some|sumiu|sumiram|desaparec*|parou|
      fallisce|falliscono|rotto|rotta|rotti|si blocca|bloccat*|crasha|sparisc*|sparit*|si pianta|impazz*|si rompe|
      faalt|falen|kapot|crasht|loopt vast|hangt|verdwijn*|verdwenen|stuk|valt om|blijft hangen|
      nie przechodzi|wywala*|wysypuje|psuje|zepsut*|zawiesz*|znika*|zniknel*|pada|padaja|sypie|gubi|
      падает|падают|упал|упала|упало|ломается|сломал*|сломан*|виснет|завис*|пропада*|пропал*|отвалил*|глючит|слетает|
      cokuyor|coktu|bozul*|bozuk|takil*|donuyor|dondu|kayboluyor|kayboldu|patliyor|patladi|kiriliyor|dusuyor|kapaniyor|hata veriyor|
      落ちる|落ちます|落ちて|壊れ|止まる|止まり|止まって|固まる|固まり|固まって|消える|消えて|消えます|失敗|ハング|フリーズ|崩れ|문자깨|깨져|깨집|깨짐|죽|멈춤|멈춥|멈춰|멈춘|실패|사라지|사라집|사라졌|꺼져|꺼짐|꺼집|튕|먹통|
      失败|卡死|卡住|挂了|挂掉|坏了|丢失|消失|超时|死锁|泄漏|掉线|乱码|崩了|白屏|不见了|
      pada|spadne|spadl*|rozbit*|rozbil*|zamrzn*|zasekn*|zmiz*|zatuhn*|selz*|neprochaz*|падає|падають|впав|впала|ламає*|зламал*|зламан*|зависа*|зника*|зникл*|вилітає|вилетіл*|поламав|
      kraschar|kraschade|hanger sig|fastnar|fastnat|forsvinn*|forsvann|forsvunn*|havererar|gar sonder|sonder|trasig*|dor|slutade|swallow*|stutter*|survives|survive|
      विफल|फेल|बंद हो जा*|अटक*|टूट गया|فشل|يفشل|تعطل|يتعطل|يتوقف|توقف|ينهار|gagal|rusak|macet|keluar sendiri|bị treo|bị hỏng|bị sập|bị đơ|thất bại|tự thoát`,
  },
  {
    name: "it does not work",
    words: `doesn't work*|doesnt work*|does not work*|not working|isn't working|isnt working|won't|wont|can't|cant|cannot|unable to|no longer|doesn't|doesnt|does not|didn't|didnt|did not|isn't|isnt|never|nothing happens|stopped|stops|refuses|without any|not found|no such|
      geht nicht|funktioniert nicht|tut nicht|klappt nicht|nicht mehr|lasst sich nicht|kann nicht|konnen nicht|passiert nichts|reagiert nicht|kommt nicht|kommen nicht|startet nicht|ladt nicht|zeigt nicht|wird nicht|werden nicht|
      ne marche|ne fonctionne|ne s'|n'affiche|ne charge|ne demarre|ne se|marche pas|marche plus|fonctionne pas|fonctionne plus|n'est plus|n'arrive|impossible de|plus rien|ne part|rien ne se passe|
      no funciona*|no carga|no se|no puedo|no pueden|no me deja|deja de|dejo de|ya no|no hace|no aparece*|no llega*|no arranca|no abre|no guarda|
      nao funciona*|nao abre|nao carrega|nao consigo|nao aparece*|nao conseguem|nao chega*|para de|parou de|nao salva|nao esta|nao inicia|
      non funziona*|non si|non carica|non parte|non riesc*|non va|non arriva*|smette di|non vengono|non viene|non risponde|
      werkt niet|doet het niet|niet meer|kan niet|lukt niet|laadt niet|start niet|komt niet|doet niks|gebeurt niks|gebeurt niets|
      nie dziala*|nie moge|nie mozna|nie laduje|nie da sie|nie wysyla*|nie otwiera|nie chce|przestal*|nie zapisuj*|nie pojawia|nie odpowiada|nie startuje|
      не работа*|не открыва*|не загруж*|не могу|не запуска*|не приход*|не показыва*|не сохраня*|перестал*|не отвеча*|не дает|не видит|не срабатыв*|не отправля*|
      calismiyor|acilmiyor|yuklenmiyor|gelmiyor|gitmiyor|olmuyor|gorunmuyor|kaydetmiyor|giremiyor*|yapamiyor*|gonderilmiyor|cevap vermiyor|acmiyor|calismaz|
      動かない|動きません|動かなく|できない|できません|できなく|表示されない|表示されません|開かない|開けない|届かない|届きません|されない|されません|されなく|なりません|反応しな|
      안 돼|안돼|안 됩|안됩|안 되|안되|않아|않습|않는|않음|안 열|안열|안 떠|안 나|안나|안 와|안와|못 |작동하지|동작하지|
      不能|无法|没反应|不工作|打不开|不显示|不了|没有反应|不生效|收不到|加载不出|失效|不动了|
      nefunguj*|nejde|nejdou|nelze|nemuzu|nemohu|nereaguj*|neuklad*|nenacit*|nezobraz*|neprichaz*|nechodi|prestal*|neotev*|nespusti*|не працю*|не відкрива*|не завантаж*|не можу|не реагу*|
      не зберіга*|не приход*|не показу*|не запуска*|перестал*|не вда*|неможлив*|не видно|fungerar inte|funkar inte|gar inte|kan inte|oppnas inte|laddas inte|sparas inte|visas inte|
      kommer inte|inte langre|hander inget|gor inget|gor ingenting|startar inte|svarar inte|slutat fungera|aren't|arent|doesn t|not work*|not show*|not respond*|not refresh*|not updat*|
      not possible|nonfunctional|non fonctionnel*|ne fonctionnent|ne repond*|n'affich*|ne s'affich*|не нажима*|не реагиру*|не прихо*|没有反应|没反应|无反应|不动|没用|点不|打不|
      don't work*|dont work*|do not work*|don't show*|do not show*|don't load*|do not load*|don't respond*|do not get|do not appear*|don't appear*|cannot be|not correctly|not properly|not consistent*|not rendered|not rendering|not displayed|not sorted|not saved|not loaded|not sent|not found|not visible|not clickable|not persist*|not recogni*|not applied|not detected|
      काम नहीं|नहीं चल*|नहीं हो*|नहीं खुल*|नहीं दिख*|नहीं आ*|नहीं मिल*|kaam nahi*|nahi chal*|لا يعمل|لا تعمل|لا يستجيب|لا تستجيب|لا يظهر|لا تظهر|لا يفتح|لا تفتح|لا يمكن*|لم يعد|مش شغال|
      tidak berfungsi|tidak bisa|tidak jalan|nggak jalan|gak jalan|gak bisa|nggak bisa|tidak muncul|tidak tampil|không hoạt động|không chạy|không được|không hiển thị|không hiện|không thể|không mở|
      không vào được|không có gì xảy ra`,
  },
  {
    name: "a wrong result",
    words: `wrong|wrongly|incorrect*|corrupt*|duplicate*|duplicated|twice|missing|empty|blank|stale|garbage|off by|negative|mismatch*|instead of|instead|unexpected*|weird|weirdly|strange|odd|nan|undefined|null|inconsistent*|overlap*|flicker*|jump|jumps|jumped|slow|slower|lag|laggy|spikes|spiking|100%|duplicates|lost|loses|losing|shifted|mixed up|out of sync|ignored|ignores|misaligned|skips|skipped|
      falsch*|doppelt*|leer|leere|leeren|fehlt|fehlen|verschoben|statt|seltsam|komisch|langsam*|flacker*|ignoriert|vertauscht|weg|nur noch|
      mauvais*|faux|fausse|doublon*|en double|vide|vides|manquant*|manque|au lieu de|bizarre|lent|lente|decale*|incorrect*|deux fois|
      incorrect*|mal|equivocad*|duplicad*|vaci*|falta|faltan|en vez de|en lugar de|raro|rara|lento|lenta|dos veces|en blanco|en cero|pierde|
      errado|errada|errados|incorret*|duplicad*|vazi*|faltando|em vez de|ao inves de|estranh*|lento|lenta|duas vezes|em branco|zerad*|
      sbagliat*|errat*|doppi*|vuot*|manca|mancano|invece di|invece che|strano|strana|strani|strane|stranamente|stranezz*|lento|lenta|lentissim*|due volte|bianc*|
      verkeerd*|dubbel*|leeg|lege|ontbreekt|ontbreken|in plaats van|raar|vreemd|traag|twee keer|springt|
      zle|zly|zla|bledn*|podwojn*|dwa razy|pust*|brak|brakuje|zamiast|dziwn*|woln*|niepopraw*|powoli|
      неправильн*|неверн*|дважды|дубл*|пуст*|вместо|странн*|медленн*|тормоз*|теря*|лишн*|криво|
      yanlis*|cift|iki kere|iki kez|bos|eksik|yerine|garip|tuhaf|yavas*|sacma|ters|bembeyaz|
      間違|二重|重複|空の|空に|ずれ|おかし|遅い|遅く|重い|化け|真っ白|不正な|異なる|まま|잘못|중복|두 번|두번|빈 |이상하|이상해|느려|느립|느린|하얗|0으로|다르게|
      不对|不正确|重复|两次|空白|缺少|变成|奇怪|很慢|太慢|变慢|错位|不一致|丢了|少了|多了|
      spatn*|chybn*|dvakrat|prazdn*|chybi|misto|divn*|pomal*|duplicit*|nespravn*|неправильн*|хибн*|двічі|порожн*|замість|дивн*|повільн*|дубл*|зайв*|криво|бракує|feltext|
      felaktig*|fel ordning|dubbel*|dubblett*|tva ganger|tom|tomt|saknas|i stallet|istallet|konstig*|langsam*|seg|segt|upp och ner|forskjut*|overlaps|truncated|mangled|unreadable|
      unreachable|cut off|disabled|greyed out|grayed out|leftover|out of order|in the wrong|trop|coupe|cortad*|tagliat*|afgesneden|uciet*|обрезан*|
      गलत|खाली|सफेद स्क्रीन|दो बार|خاطئ*|فارغ*|مرتين|شاشة بيضاء|salah|kosong|layar putih|dobel|dua kali|bị sai|hiển thị sai|tính sai|màn hình trắng|hai lần|bị mất|bị trùng`,
  },
  {
    name: "since when",
    words: `since|ever since|after updating|after the update|after upgrading|after the upgrade|after deploy*|after the|yesterday|last night|this morning|today|every time|sometimes|randomly|random|intermittent*|once in|occasionally|out of|reproduc*|on friday|on monday|monday|friday|used to|worked|works fine|works on|only on|only in|only when|only happens|happens|happened|happening|all of a sudden|suddenly|again|always|previously|before that|until|
      seit|nach dem update|nach dem deploy*|nach der|nach dem|gestern|heute|manchmal|jedes mal|plotzlich|sporadisch|vorher|zufallig|immer wieder|passiert|tritt auf|immer|sobald|aufgefallen|
      depuis|apres la mise a jour|apres le|hier|ce matin|parfois|a chaque fois|aleatoire*|soudain*|avant ca|de temps en temps|se produit|arrive|des que|toujours|
      desde|tras|despues de|ayer|esta manana|a veces|cada vez|de repente|aleatori*|antes funcionaba|antes iba|ocurre|pasa|siempre que|reproducible|
      desde que|depois que|depois da|depois do|ontem|hoje de manha|as vezes|toda vez|do nada|acontece*|sempre que|antes funcionava|a cada|desde|aconteceu|
      da ieri|da quando|dopo l'|dopo il|dopo la|ieri|stamattina|a volte|ogni volta|ogni tanto|all'improvviso|succede*|successo|capita|sempre|prima funzionava|
      sinds|na de update|na de|gisteren|vanochtend|soms|elke keer|ineens|opeens|af en toe|gebeurt|altijd|
      od wczoraj|od kiedy|po aktualizacji|po wdrozeniu|wczoraj|dzis rano|czasami|czasem|za kazdym razem|nagle|losowo|dzieje|od wersji|od|zawsze|po ostatni*|
      после обновлен*|после|вчера|сегодня|иногда|каждый раз|внезапно|раз в|случа*|с понедельника|раньше работало|всегда|примерно раз|происход*|
      dunden|dun|bugun|guncelleme*|sonra|bazen|her seferinde|birden|aniden|rastgele|oluyor|beri|surekli|
      昨日から|アップデート後|更新後|以降|してから|してから|たまに|時々|毎回|急に|突然|前のバージョン|再現|発生|から急|以来|すると|したら|
      어제|업데이트 후|배포 후|이후|가끔|매번|갑자기|때마다|발생|할 때|하면|부터|재현|
      昨天|更新后|升级后|之后|有时|偶尔|每次|突然|以来|出现|必现|复现|开始|一直|老是|总是|就会|
      od vcer*|od te doby|po aktualizaci|po upgradu|vcera|dnes rano|obcas|nekdy|pokazde|najednou|nahodne|zatim slo|deje se|після оновл*|після|з учора|учора|вчора|сьогодні|іноді|часом|
      щоразу|раптом|випадков*|сталося|завжди|efter uppdatering*|efter|sedan|sen igar|igar|i morse|ibland|varje gang|plotsligt|slumpmass*|hander nar|alltid|
      के बाद|फिर से|बार बार|कल से|بعد التحديث|منذ|مرة أخرى|sejak|setelah update|sau khi|từ hôm qua`,
  },
  {
    name: "a wish to have it fixed",
    words: `fix|fixes|fixed|fixing|hotfix|repair|resolve|solve|sort it out|sort this out|sort out|make it stop|unbreak|troubleshoot|debug*|mend|get it working|needs to stop|patch it|bring it back|restore|
      beheb*|fixen|fixt|repar*|reparier*|korrigier*|in ordnung bringen|losen|hinbekommen|
      corrige*|corriger|repare*|resoudre|debug*|regler|arregl*|soluciona*|corrig*|repar*|resolver o|resolver a|resolver os|resolver as|resolver esse|resolver este|resolver isso|resolver el|resolver la|resolver esto|consert*|arrum*|corrij*|resolva*|resolve|resolvam|resolvido|resolvemos|
      correggi*|correggere|sistema*|ripara*|risolv*|aggiusta*|los op|oplossen|fixen|repareren|herstel*|verhelp*|maken|
      napraw*|popraw*|rozwiaz*|исправ*|почин*|поправ*|пофикс*|устран*|duzelt*|coz|cozun|cozelim|cozul*|onar*|gider|giderin|
      直して|修正して|修正を|直す|修理|解決|고쳐|고치|수정해|수정 |해결|잡아|修复|修一下|修好|解决|修下|改好|
      oprav*|spravit|zprovoz*|vyres*|napravte|виправ*|полагод*|поправ*|усун*|пофікс*|atgarda*|laga|fixa|ratta|ratta till|losa|bugfix*|correction*|correctif|correct|corrected|fixing|
      ठीक कर*|सुधारो|أصلح|إصلاح|perbaiki|perbaikan|betulkan|sửa lỗi|sửa giúp|khắc phục`,
  },
  {
    name: "a search for the cause",
    words: `why|why does|why is|root cause|cause|find out|figure out why|investigate|track down|what's going on|whats going on|what is going on|what happened|what's wrong|whats wrong|idk what|no idea|no clue|any idea*|look into|steps to reproduce|repro|expected|actual|got|bisect|diagnos*|
      warum|wieso|ursache|woran|herausfinden|rausfinden|keine ahnung|was ist da los|pourquoi|la cause|d'ou vient|trouver la|aucune idee|comprends pas|
      por que|porque|causa|averigua*|investiga*|ni idea|no entiendo|que pasa|descubr*|investigar|sem ideia|nao sei|nao entendo|entender por|
      perche|come mai|capire perche|causa|indaga*|non capisco|nessuna idea|waarom|oorzaak|zoek uit|uitzoeken|geen idee|snap er|
      dlaczego|czemu|przyczyn*|znajdz|nie wiem|ustal|sprawdz czemu|почему|причин*|разобраться|разберитесь|выясни*|не понимаю|найти|в чем дело|
      neden|niye|sebeb*|nedenini|anlamadim|bilmiyorum|bul|bulun|
      なぜ|原因|調べて|調査|わからない|分からない|どうして|왜|원인|찾아|모르겠|조사|이유|为什么|原因|怎么回事|排查|查一下|找出|为啥|看看是|定位|
      proc|pricina|priciny|pricinu|pricine|pricinou|pricinach|zjist*|nevim|netus*|чому|причин*|з'ясу*|розбер*|не розумію|не знаю чому|varfor|orsak*|ta reda|vet inte|fattar inte|forstar inte|
      क्यों|वजह|لماذا|ليش|سبب|kenapa|mengapa|penyebab|tại sao|vì sao|nguyên nhân`,
  },
];
