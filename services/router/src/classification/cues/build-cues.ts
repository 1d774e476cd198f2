/** Words for making and changing things, and for the wish that something exist. */
import type { CueGroup } from "./cue-group.ts";

export const BUILD_CUES: readonly CueGroup[] = [
  {
    name: "a verb of making",
    words: `add|adds|added|adding|build|builds|implement*|create|creates|introduc*|write|develop|generat*|make|makes|provide*|put|expose*|ship|include|includes|insert|set up|setup|hook up|wire|wire up|integrate*|install|emit|enable*|support|supports|publish|display|show|render|print|log|send|extend|
      fuge|hinzu|hinzufugen|ergan*|erganz*|baue|bau|bauen|einbauen|erstell*|implementier*|anlegen|leg|lege|schreib*|einfuhr*|einfug*|ermoglich*|unterstutz*|zeig|zeige|anzeigen|stell|mach|mache|generier*|
      ajout*|rajout*|cree|creer|creez|implement*|ecri*|mettre|mets|mettez|integre|integrer|integrez|integrons|genere*|affich*|permettre|ajouter|installe|installez|installes|exporter en|exporter le|exporter la|exporter les|exporter des|exporter au|exporter vers|
      anad*|agreg*|crea|crear|cread|implement*|escrib*|pon|poner|poned|ponle|incluy*|genera|generar*|generad*|generac*|genere|generen|integra|integrar*|integrac*|integre|integren|muestra*|mostrar|permit*|haz|monta|mete|
      adicion*|acrescent*|crie|criar|cria|implement*|escrev*|coloca*|coloque|colocar|bota|botar|inclua*|incluir*|inclui|incluindo|inclusao|gera|gerar|gere|integra|integrar*|integrac*|integre|integrem|mostr*|permit*|faca|fazer um|poe|
      aggiung*|crea|creare|implement*|scriv*|metti|mettere|inserisc*|inseri*|genera|generare|generazion*|generi|integra|integrare|integrazion*|integri|mostra*|permett*|fai|
      voeg|toevoegen|toe|maak|maken|bouw|bouwen|implementeer*|schrijf|schrijven|zet|laat|genereer*|toon|tonen|
      dodaj*|dodac|doda*|dodanie|dopis*|stworz*|utworz*|zaimplement*|napisz*|wprowadz*|wstaw*|zrob|zrobcie|wygeneruj*|wyswietl*|pokaz*|obsluga|obsluge|
      добав*|созда*|сделай*|сделать|сделайте|реализ*|напиши*|внедр*|встав*|вывод*|покаж*|поддержк*|прикрут*|запили*|допиш*|
      ekle|ekleyin|ekler misin*|eklenmesi|eklensin|eklesene|eklemek|eklenebilir|olustur*|yaz|yazin|yap|yapin|uygula*|goster*|koy|koyar misin|destegi|ekleme|eklen*|
      追加|作って|作成|実装|入れて|つけて|付けて|対応して|できるように|表示して|書いて|用意|추가|만들어|구현|작성해|넣어|달아|지원|생성|표시해|
      添加|增加|新增|加一个|加个|加上|实现|写一个|写个|创建|做一个|做个|支持|生成|显示|接入|加到|补上|弄个|弄一个|
      pridej*|pridat|vytvor*|implementuj*|napis*|zaved*|vygeneruj*|zobraz*|ukaz*|doplnit|dopln*|udelej*|umozn*|дода*|створ*|реалізу*|напиш*|зроб*|впровад*|покаж*|згенеру*|встав*|
      підтримк*|надсила*|lagg till|lagga till|skapa*|implementera*|skriv|bygg|bygga|visa|generera*|infor|infora|stod for|lagg in|skicka|satt upp|
      जोड़*|बनाओ|बनाइए|बनाएं|बना दो|लगा दो|लगाओ|लिखो|कर दो|أضف|إضافة|أنشئ|إنشاء|اكتب|tambah*|buat|buatkan|bikin*|pasang|thêm nút|thêm trang|thêm bộ|thêm chức năng|thêm tính năng|tạo chức năng|
      tạo trang|viết script|viết hàm`,
  },
  {
    name: "a verb of changing",
    words: `change|changes|changed|rename*|move|moves|replace*|swap|switch|switches|upgrade*|update|updates|bump*|remove*|delete|drop|refactor*|extract*|convert*|port|rewrite|translat*|localiz*|localis*|clean up|cleanup|tidy|simplify|merge|inline|pin|turn|turn on|turn off|increase|reduce|raise|lower|shorten|migrate|migrates|split|adopt|disable|deprecate|improve|optimi*|cache|sort|default to|restyle|redesign|document|resize|format|
      ander*|umbenenn*|benenn*|ersetz*|tausch*|austausch*|verschieb*|entfern*|losch*|aktualisier*|umstell*|stelle um|refaktor*|ubersetz*|aufraum*|verklein*|vergross*|hochziehen|rausnehmen|raus|
      chang*|renomm*|remplac*|deplac*|supprim*|retir*|enlev*|met a jour|mettre a jour|mets a jour|traduis*|traduire|refactor*|convert*|bascule|extrai*|passe|passer|
      cambi*|renombr*|reemplaz*|sustitu*|mueve|mover|elimin*|quita*|borra*|actualiz*|traduc*|refactoriz*|conviert*|extrae*|sube|baja|
      troc*|mud*|altera*|altere|renomei*|substitu*|mova|movam|mover|movimenta*|remova|removam|remover|remocao|apag*|atualiz*|traduz*|refator*|converta|convertam|converte|converter o|converter os|converter as|converter para|extrai*|tira|tirar|
      cambia*|rinomin*|sostitu*|spost*|rimuov*|elimin*|togli|aggiorn*|traduc*|refactor*|convert*|estrai*|porta|passa|
      verander*|wijzig*|hernoem*|vervang*|verplaats*|verwijder*|haal|updaten|update|vertaal*|refactor*|splits de|splits het|splits op|opsplits*|zet om|omzetten|
      zmien*|zmiana|przemian*|zamien*|zastap*|przenies*|usun*|zaktualizuj*|przetlumacz*|refaktor*|wydziel*|podbij*|przerob*|
      измени*|помен*|переимен*|замен*|перенес*|удал*|убер*|убрать|обнов*|перевед*|рефактор*|вынес*|переделай*|переписать|перепиши*|вынеси|
      degistir*|yeniden adlandir*|tasi|tasiyin|sil|silin|kaldir*|guncelle*|cevir*|yukselt*|ayir|refactor*|donustur*|
      変更|置き換え|移動して|削除|更新して|リファクタ|翻訳|切り替えて|変えて|統一して|リネーム|バンプ|上げて|바꿔|변경|교체|이동|삭제|업데이트해|업그레이드|번역|리팩|옮겨|제거|분리|올려|
      改成|改为|替换|换成|重命名|移到|删除|删掉|去掉|升级到|升级|更新到|翻译|重构|修改|抽出|合并成|调整|改一下|换掉|
      zmen*|prejmenuj*|nahrad*|presun*|odstran*|smaz*|aktualizuj*|vymen*|zvets*|zvyst*|zvednete|prepis*|preloz*|dejte pryc|змін*|перейменуй*|замін*|перенес*|видал*|прибер*|оновит*|
      оновлення залежн*|перепиш*|перекла*|збільш*|andra|byt ut|byt namn|byta ut|ersatt|flytta|ta bort|uppdatera|oversatt*|hoj|sank|oka|minska|
      बदलो|बदल दो|हटाओ|हटा दो|احذف|استبدل|ترقية|ganti|ubah|hapus|pindahkan|đổi tên|đổi màu|thay thế|nâng cấp`,
  },
  {
    name: "a wish for a feature",
    words: `can we have|could we have|can we get|could we get|would be nice|would be great|it'd be nice|i'd like|i would like|i want|we want a|we need a|we need an|need a|need an|needs a|wish|users should|should be able|able to|should be|should show|should have|should use|allow|let users|let me|so that|so people|please put|while you're|while you're at it|feature|feature request|request:|customers want|customers ask*|keep asking|as a user|acceptance|must|ability to|option to|opt-in|configurable|
      hatte gern*|ware schon|ware nett|wunsch*|mochte*|brauche*|brauchen|brauchten|soll|sollen|sollte|damit|kunden wollen|kunden mochten|nutzer sollen|funktion|konnen wir|konntest du|konnt ihr|
      j'aimerais|il faudrait|on aurait besoin|il nous faut|besoin|pouvoir|fonctionnalite|ce serait|serait bien|doit|doivent|afin|pour que|souhait*|voudr*|
      me gustaria|quisiera|quiero|necesito|necesitamos|estaria bien|funcionalidad|deberia|deben|para que|hace falta|podemos|podriais|podrias|
      gostaria|quero|preciso|precisamos|seria bom|funcionalidade|deveria|devem|para que|da pra|tem como|poderia|
      vorrei|mi piacerebbe|ci serve|mi serve|serve un|serve una|serve che|servirebbe|non serve|bisogno|sarebbe bello|sarebbe comodo|funzionalita|dovrebb*|deve|devono|in modo che|riusciresti|potresti|
      ik wil|graag|we hebben nodig|zou fijn|zou mooi|functie|moet|moeten|zodat|kunnen we|kun je|kan je|mag|
      chcialbym|chcialabym|potrzebuje*|potrzebny|potrzebna|przydalby|przydaloby|przydalaby|funkcj*|powin*|musi|zeby|aby|mozecie|mozesz|
      хотелось бы|хочу|нужен|нужна|нужно|нужны|было бы|функци*|должн*|чтобы|можно|надо|хорошо бы|
      isterim|istiyorum|lazim|gerek|gerekiyor|guzel olur|iyi olur|ozelli*|olmali|olsun|boylece|icin|
      ほしい|欲しい|お願いします|してください|必要です|たいです|してほしい|機能|したい|원합|싶|필요합|해 주세요|해주세요|기능|되게|하게 해|있으면|좋겠|
      希望|想要|需要一个|最好|能不能加|能不能|功能|可以让|应该|麻烦加|方便|要求|让用户|
      chtel* bych|chceme|potrebuj*|moznost|mozno|melo by|mel by|mela by|aby|hodilo by|bylo by|prosim pridej*|хочеться|хотілося б|потрібн*|можливіст*|щоб|було б|має бути|
      варто додати|бажано|vill ha|skulle vilja|onskar|onskan|behover|borde|ska ga att|mojlighet*|vore|sa att|toppen|wish:|idea:|suggestion|ability|possibility|enhancement*|improvement*|
      would like|would help|would be welcome|should be possible|should remember|should look|let people|lets users|
      चाहिए|चाहते हैं|सुविधा|समर्थन|chahiye|نريد|نحتاج|أريد|ميزة|دعم|butuh|ingin|pengen|fitur|dukungan|muốn|cần có|tính năng|chức năng|hỗ trợ|cho phép`,
  },
  {
    name: "a thing to make",
    words: `flag|--*|button|endpoint|page|screen|field|column|toggle|dropdown|option|command|subcommand|checkbox|filter|dark mode|tooltip|export|import|support for|unit tests|tests for|integration test*|docs|readme|changelog|template|banner|menu|tab|widget|shortcut*|theme|dashboard|probe|workflow|script|helper|wrapper|middleware|webhook|notification*|dockerfile|locale|translation*|sdk|plugin|
      knopf|schaltflache|seite|feld|spalte|option|befehl|filter|dunkelmodus|tests fur|vorlage|menu|umschalter|anzeige|
      bouton|page|champ|colonne|option|commande|filtre|mode sombre|tests unitaires|modele|onglet|ecran|
      boton|pagina|campo|columna|opcion|comando|filtro|modo oscuro|tests unitarios|plantilla|pestana|pantalla|
      botao|pagina|campo|coluna|opcao|comando|filtro|modo escuro|testes unitarios|aba|tela|
      pulsante|bottone|pagina|campo|colonna|opzione|comando|filtro|tema scuro|test unitari|scheda|schermata|supporto|
      knop|pagina|veld|kolom|optie|commando|donkere|filter|tabblad|scherm|ondersteuning|
      przycisk*|strona|strone|pole|kolumn*|opcj*|polecen*|filtr|ciemny|testy jednostkowe|zakladk*|ekran|
      кнопк*|страниц*|поле|колонк*|опци*|флаг*|команд*|фильтр*|темн*|юнит-тест*|вкладк*|экран*|переключател*|
      buton*|dugme*|sayfa*|alan|sutun|secenegi|komut*|filtre*|karanlik|koyu|testleri|sekme|ekran*|
      ボタン|ページ|フィールド|オプション|コマンド|フィルタ|ダークモード|単体テスト|画面に|項目|対応|버튼|페이지|필드|옵션|명령|필터|다크|단위 테스트|화면에|드롭다운|
      按钮|页面|字段|选项|命令|过滤|深色模式|暗黑|单元测试|开关|参数|接口|导出|标签页|
      tlacitko|stranka|pole|sloupec|sloupce|volba|prikaz|filtr|motiv|export|zalozka|obrazovka|vzhled|prihlaseni|razeni|кнопк*|сторінк*|поле|стовп*|опці*|команд*|фільтр*|тем*|вкладк*|
      експорт*|екран|сортуванн*|вхід|knapp*|sida|sidan|falt|kolumn*|alternativ for|kommando|filter|tema|flik|vy|export|sortering|inloggning|snabbval|leaderboard|login|picker|badge|
      carousel|onboarding|
      बटन|पेज|विकल्प|फ़िल्टर|कॉलम|زر|صفحة|حقل|فلتر|tombol|halaman|kolom|tampilan|nút bấm|bộ lọc|giao diện`,
  },
];
