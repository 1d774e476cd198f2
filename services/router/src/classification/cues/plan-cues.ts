/** Words for thinking before doing: the plan, its steps, its cost, the options and the decision. */
import type { CueGroup } from "./cue-group.ts";

export const PLAN_CUES: readonly CueGroup[] = [
  {
    name: "a plan",
    words: `plan|plans|planning|roadmap*|road map|proposal*|rfc|rfcs|adr|strategy|strategies|blueprint*|design doc*|breakdown|break down|break it down|outline*|playbook|spec|scoping|scope|architecture|write-up|writeup|concept|lay out|lay it out|map out|sketch|timeline*|schedule|backlog|propose|draft a|rollout|think through|come up with|design for|
      plan|ich plane|plane die|plane den|plane das|plane eine|plane einen|plane wie|planen|planung|fahrplan|konzept*|vorschlag*|strategie*|entwurf fur|ablaufplan|zeitplan*|projektplan*|stufenplan|skizzier*|grobplan*|vorgehen|vorgehensweise|gliederung|
      plan|planifi*|feuille de route|proposition*|propose*|proposer|strategie*|etude|un scenario|le scenario|les scenarios|des scenarios|scenarios pour|scenarios de|calendrier|planning|decoupe*|decoupag*|decoupons|cadrage|
      plan|planes|planific*|hoja de ruta|propuesta*|proponer|estrategia*|cronograma*|calendario|esquema de trabajo|desglos*|esbozo|
      plano|planos|planej*|roteiro|proposta*|estrategia*|cronograma*|mapeie|mapear|desenh* a|esboc*|planeamento|
      piano|piani|pianific*|tabella di marcia|proposta*|strategia*|scaletta|cronoprogramma|bozza di piano|studio di|progettare|
      plan|plannen|stappenplan|voorstel*|strategie*|routekaart|draaiboek|opzet|planning|aanpak|projectplan|
      plan|planu|plany|planem|zaplan*|harmonogram*|propozyc*|strategi*|koncepcj*|rozpis*|rozplan*|zarys|mapa drogowa|
      план|плана|планы|спланир*|дорожн*|предложени*|стратеги*|концепци*|распиши*|расписать|набросай*|график|проработ*|прикин*|
      plan|plani|planlama*|planla*|yol haritasi*|oneri|onerisi|teklif*|strateji*|taslak|takvim*|
      計画|ロードマップ|提案|方針|設計案|戦略|スケジュール|進め方|手順|段取り|たたき台|構想|案を|계획|로드맵|제안|전략|설계안|일정|방안|청사진|기획|순서|
      方案|计划|规划|路线图|提案|策略|设计方案|思路|排期|蓝图|时间表|
      plan|plany|planu|naplanuj*|navrh*|harmonogram*|strategi*|koncept*|postup*|cestovni mapa|план|плани|плану|сплану*|пропозиц*|стратегі*|концепці*|дорожн*|графік|планування|planera*|
      planen|planering|forslag*|strategi*|fardplan*|tidplan*|upplagg|utkast|release plan|rollout plan|implementation plan|test strategy|concept|scope of|vision for|goals for|epic|epic:|
      meta:|umbrella|
      योजना|रोडमैप|रणनीति|प्रस्ताव|दायरा|خطة|خارطة الطريق|استراتيجية|مقترح|نطاق|rencana*|peta jalan|strategi|usulan|ruang lingkup|kế hoạch|lộ trình|chiến lược|đề xuất|phạm vi`,
  },
  {
    name: "steps in an order",
    words: `step by step|step-by-step|steps|phase|phases|phased|milestone*|in which order|what order|in what order|order of|sequence|sequencing|stages|stage|first, second|which first|what goes first|where to start|where do we start|where would you start|where do i start|chunks|pieces|sprints|tasks|subtasks|tickets|dependencies|rollback*|cutover|checkpoints|incremental*|
      schritt*|schritte|phase|phasen|etappe*|reihenfolge|meilenstein*|stufen|arbeitspakete*|aufgaben|teilschritt*|abhangigkeit*|womit anfangen|wo anfangen|rollback|
      etape*|phase*|dans quel ordre|l'ordre|ordre|jalon*|des lots|les lots|en lots|par lots|lots de|taches|par ou commencer|dependances|retour arriere|paliers|
      paso|pasos|fase|fases|etapa|etapas|orden|hito|hitos|por donde empezar|tareas|dependencias|por partes|
      passo|passos|passo a passo|fase|fases|etapa|etapas|ordem|marcos|por onde comecar|tarefas|dependencias|em partes|
      passo|passi|fase|fasi|tappa|tappe|ordine|milestone|da dove|da dove iniziare|attivita|dipendenze|sequenza|
      stap|stappen|fase|fases|fasen|volgorde|mijlpa*|waar beginnen|in taken|de taken|welke taken|losse taken|deeltaken|takenlijst*|afhankelijkhe*|
      krok|kroki|krokow|krokach|etap*|fazy|faz|kolejnosc*|kamienie|zadani*|od czego zaczac|zaleznosc*|
      шаг*|по шагам|этап*|поэтапн*|порядок|порядке|последовательн*|с чего нач*|задач*|вех*|фаз*|зависимост*|
      adim*|asama*|sira|sirasi*|sirayla|hangi sira*|kilometre tas*|fazlar*|nereden basla*|gorev*|
      ステップ|段階|順番|順序|フェーズ|マイルストーン|工程|タスク分|何から|洗い出|流れ|단계|순서|마일스톤|작업 목록|절차|나눠|무엇부터|뭐부터|과정|
      步骤|分步|分阶段|阶段|顺序|里程碑|先后|拆分|拆成|几步|任务清单|一步步|先做|依赖|
      krok*|faze|etap*|poradi|milnik*|cim zacit|kde zacit|ukoly|rozdelit|крок*|етап*|порядк*|послідовн*|віх*|з чого почати|поділити|завдання|steg|etapp*|ordning*|milstolp*|var borjar|
      uppgifter|dela upp|
      चरण*|कदम|المراحل|مراحل|خطوات|الخطوات|langkah*|tahap*|các bước|giai đoạn`,
  },
  {
    name: "effort and time",
    words: `estimate*|estimation|effort|how long|how much work|how many weeks|how many days|how big|weeks|person-weeks|person-days|man-days|person weeks|person days|days each|cost|costs|budget|ballpark|rough|roughly|sizing|t-shirt|headcount|quarter|q1|q2|q3|q4|next year|end of year|by end of|timebox|story points|staffing|
      aufwand*|schatz*|dauer|wie lange|wochen|personentage|pt|kosten|grob|grobe|budget|quartal|
      estimation*|estimer|combien de temps|effort|la charge|de charge|charge de|une charge|les charges|des charges|charges de|cout|couts|semaines|jours-homme|jours|duree|budget|trimestre|chiffr*|
      estimac*|estima|esfuerzo|cuanto tiempo|cuanto tarda*|cuanto llevaria|semanas|coste|costes|costo|presupuesto|plazos|trimestre|duracion|
      estimativa*|estime|esforco|quanto tempo|semanas|custo|custos|orcamento|prazo|prazos|trimestre|duracao|
      stima|stime|sforzo|quanto tempo|quanto ci vuole|quanto dura|settimane|costo|costi|budget|tempi|trimestre|durata|impegno|giornate|
      schatting*|inschatting*|hoeveel tijd|hoe lang|weken|kosten|uren|doorlooptijd|kwartaal|
      oszacowan*|szacunk*|oszacuj|wycen*|ile czasu|ile potrwa|ile zajmie|ile tygodni|tygodni*|koszt*|naklad*|kwartal*|pracochlon*|termin|terminu|terminy|terminow|terminie|terminem|terminom|terminach|terminarz*|czas*|
      оцен* срок*|сроки|сроков|срокам|сколько времени|сколько займет|сколько|недел*|трудозатрат*|стоимост*|бюджет*|квартал*|человеко*|оценк* по|
      tahmin*|ne kadar surer|kac hafta|hafta*|maliyet*|ne kadar sure|kac gun surer|surede|suresi|suresini|sureyi|sureye|sureler*|surer|efor|butce*|ceyrek*|
      見積|工数|期間|どのくらい|どれくらい|何週間|コスト|予算|人日|概算|四半期|費用|목표 기간|예상|견적|공수|얼마나|기간|비용|예산|몇 주|며칠|분기|소요|
      估算|估计|预估|多久|多长时间|工作量|人天|成本|预算|几周|季度|大概时间|工期|时间|
      odhad*|jak dlouho|kolik casu|pracnost*|tydn*|naklad*|rozpoc*|termin|terminu|terminy|terminum|terminem|terminech|kolik nas|оцінк* обсяг*|скільки часу|скільки займе|скільки|тижн*|кошту*|витрат*|бюджет*|термін*|строк*|
      uppskatt*|hur lang tid|hur mycket jobb|hur mycket|veckor|kostnad*|kostar|budget|
      कितना समय|समय लगेगा|लागत|अनुमान|كم من الوقت|كم يستغرق|تقدير|تكلفة|berapa lama|estimasi|perkiraan biaya|bao lâu|ước lượng|chi phí`,
  },
  {
    name: "options to weigh",
    words: `options|option a|alternatives|trade-off*|tradeoff*|pros and cons|pros/cons|compare|comparison|versus|vs|feasib*|worth it|is it worth|worth|evaluate whether|should we|which approach|best approach|best way|what would you|recommend*|recommendation|decide|decision|choose|choice|build vs buy|explore|research|risks|risk|consequences|implications|impact|what breaks|
      optionen|eine option|welche option|die option|keine option|alternativen|vergleich*|abwag*|vor- und nachteile|machbarkeit*|lohnt|entscheid*|empfehl*|varianten|variante|sollten wir|auswirkung*|risiken|
      options|alternatives|compare|comparer|comparez|comparons|comparaison*|comparatif*|comparative|avantages|inconvenients|faisabilite|vaut le coup|vaut-il|decider|decision|recommand*|variantes|devrait-on|risques|pistes|
      opciones|alternativas|compara|comparar*|comparad*|comparemos|comparacion*|comparativa*|compare|comparen|ventajas|desventajas|pros y contras|viabilidad|vale la pena|merece la pena|decidir|decision|recomend*|conviene|riesgos|
      opcoes|alternativas|compara|comparar*|compare|comparem|comparacao|comparacoes|comparativo*|comparando|vantagens|desvantagens|pros e contras|viabilidade|vale a pena|decidir|decisao|recomend*|riscos|compensa|
      opzioni|le alternative|quali alternative|alternative a|alternative per|delle alternative|confront*|vantaggi|svantaggi|pro e contro|fattibilita|vale la pena|conviene|decidere|decisione|raccomand*|rischi|
      opties|alternatieven|vergelijk*|voor- en nadelen|voor en nadelen|haalbaar*|de moeite|beslis*|besluit*|aanbevel*|risico's|afweging*|keuze|
      opcje|opcji|alternatyw*|porown*|wady i zalety|za i przeciw|wykonalnosc*|warto|oplaca|decyzj*|zdecyd*|rekomend*|warian*|ryzyka|
      вариант*|альтернатив*|сравн*|плюсы и минусы|за и против|стоит ли|имеет ли смысл|решение о|решени*|рекоменд*|риски|рисками|целесообразн*|
      secenek*|alternatif*|karsilastir*|arti eksi|avantaj*|dezavantaj*|fizibilite*|deger mi|karar*|oner|tavsiye*|riskler*|
      選択肢|比較|メリット|デメリット|検討|代替|実現可能|判断|おすすめ|リスク|影響範囲|べきか|비교|장단점|선택지|대안|타당성|결정|추천|리스크|고려|검토해서|
      选型|对比|比较|优缺点|利弊|可行性|值得|值不值|决定|推荐|风险|权衡|选择|影响|哪种|哪个|
      moznosti|alternativa|alternativy|alternativu|alternativou|alternativni|alternativach|porovn*|vyhod*|nevyhod*|vyplati|rozhodn*|doporuc*|ktery|kterou|ktere|nebo|pro a proti|варіант*|альтернатив*|порівня*|за і проти|вигідніш*|рішення|ризики|обрати|
      яку|який|alternativ|alternativet|alternativen|jamfor*|for- och nackdelar|for och emot|lonar sig|beslut*|valja|rekommend*|eller|vilken|vilket|vilka|trade-offs|re-evaluate|reconsider|rethink|weigh|
      कौन सा|तुलना|चुनाव|चुनें|الخيارات|مقارنة|أيهما|اختيار|perbandingan|mana yang|sebaiknya pakai|lựa chọn|so sánh|nên dùng|nên chọn`,
  },
  {
    name: "a question how to go about it",
    words: `how would|how should|how could|how do we|how do i|how can we|how might|how to|what would it take|what does it take|what would be needed|what's needed|whats needed|what is involved|what's involved|what do we need|what would we|how best|best order|what's the best|where should|how hard|how difficult|approach|
      wie wurde*|wie sollten|wie konnten|wie konnte|wie kommen wir|wie bekommen wir|wie gehen wir|wie kriegen|was braucht es|was brauchte|was ware notig|was musste|wie am besten|wie soll*|wie stell*|wie geht man|wie teilen|
      comment est-ce qu|comment on fait|comment on peut|comment on pourrait|comment on devrait|comment on va|comment on s'y|comment fer*|comment faire|comment devr*|comment pass*|comment organis*|comment migr*|comment procede*|comment mettre|comment nous|comment vous|comment tu|comment s'y prendre|comment abord*|comment amelior*|comment ajouter|comment decoup*|comment deploy*|comment gerer|comment integr*|comment planifi*|comment pourr*|comment reduire|comment rendre|comment remplac*|comment repart*|comment separ*|comment structur*|qu'est-ce qu'il faudrait|que faudrait|
      como hariais|como harias|como har*|como deber*|como podr*|como organiz*|como plante*|como migr*|como pasar*|que haria falta|que necesitar*|que habria|como lo|
      como fari*|como dever*|como poder*|como organiz*|como migr*|como voce*|o que precis*|o que seria|qual seria|como sair|como dividir|
      come organizz*|come fare*|come dovr*|come potr*|come affront*|come pass*|come gest*|cosa servirebbe|cosa ci vuole|cosa serve|come suddivid*|come imposte*|
      hoe zou*|hoe pakken|hoe kunnen|hoe moet*|hoe krijgen|hoe komen|hoe gaan|wat is er nodig|wat is er allemaal|wat hebben we nodig|hoe het beste|hoe splits*|
      jak bysmy|jak powinni*|jak najlepiej|jak podejsc|jak podzielic|jak przejsc|jak przenie*|jak zrobic|jak mozna|jak by|jak ugryzc|co trzeba|czego potrzeba|
      как бы вы|как бы ты|как лучше|как нам|как перейти|как подойти|как можно|как разбить|как организ*|как правильно|что нужно|что потребуется|как перенести|как стоит|
      nasil|ne yapmaliyiz|nasil bir|neler gerek*|ne gerek*|neler lazim|nasil yapmali|
      どうやって|どのように|どう進め|どう分け|どうすれば|何が必要|どういう順|どう移行|어떻게|무엇이 필요|뭐가 필요|어떤 식|해야 할까|하면 좋을|
      怎么做|如何|怎样|该怎么|需要做哪些|需要哪些|要怎么|怎么拆|怎么迁|怎么设计|从哪|需要什么|
      jak bychom|jak to|jak rozdel*|jak prej*|jak pristoup*|jak nej|co je potreba|co se musi|як нам|як би|як краще|як перейти|як поділити|що потрібно|що треба|що має|hur ska|hur skulle|
      hur kan|hur gar|hur delar|hur lagger|vad kravs|vad behovs|vad maste|
      कैसे शुरू|कैसे करें|कहाँ से|कैसे|كيف|من أين|bagaimana cara|gimana cara|dari mana|mulai dari|làm sao|làm thế nào|từ đâu`,
  },
  {
    name: "an idea for the future",
    words: `we want to|we'd like to|we would like to|thinking about|thinking of|considering|we're considering|someday|long term|long-term|eventually|next quarter|next year|leadership wants|management wants|board|ceo|cto|steering|stakeholder*|offsite|kickoff|get us off|get off|move off|moving off|migrat*|move to|moving to|switch to|split|multi-tenan*|multi tenan*|monolith*|zero downtime|downtime|replace our|sunset|end of life|eol|phase out|decommission*|consolidat*|unify|rewrite|
      wir wollen|wir mochten|wir uberlegen|uberlegen|denken uber|umstieg|umzug|umstellung|migration|ablosung|ablosen|geschaftsfuhrung|vorstand|langfristig|wegkommen|zusammenfuhr*|mandantenfahig*|
      on veut|nous voulons|on aimerait|nous souhaitons|on envisage|nous devons|on songe|migration|migrer|bascul*|la direction|quitter|remplacer|refonte|fusionner|
      queremos|nos gustaria|estamos pensando|pensamos|migra*|pasar a|la direccion|a largo plazo|salir de|dejar de usar|unificar|
      queremos|gostariamos|estamos pensando|pensando em|migra*|migrac*|a diretoria|longo prazo|sair do|sair da|unificar|saida do|
      vorremmo|vogliamo|stiamo pensando|stiamo valutando|migra*|passare a|passaggio|la direzione|a lungo termine|togliere|unificare|dismett*|
      we willen|we zouden|we denken|overwegen|overstap*|overgang|migratie|migreren|de directie|lange termijn|afstappen|samenvoeg*|
      chcemy|chcielibysmy|zastanawiamy|rozwazamy|myslimy|migracj*|przejsci*|zarzad|dlugotermin*|odejsc|odejscie|polaczyc|przeniesien*|
      мы хотим|хотим|думаем|планируем|рассматриваем|переезд*|переехать|уехать|мигр*|переход*|перейти|руководств*|отказаться|объединить|внедрен*|уйти с|
      istiyoruz|dusunuyoruz|planliyoruz|gecmek|gecis*|tasimak|tasima|tasinma*|yonetim|uzun vade*|birlestir*|
      したいと考え|検討中|移行|導入|切り替え|将来|経営|考えています|乗り換え|統合|脱|하려고|도입|이전|전환|옮기|고민|경영진|통합|마이그레이션|넘어가|생각 중|
      我们想|打算|考虑|迁移|迁到|改造|引入|领导|老板|明年|未来|准备把|想把|统一|下线|替换掉|切换到|
      chceme|uvazuj*|zvazuj*|prechod*|prejit|migrac*|budoucn*|odchod od|хочемо|думаємо|плануємо|розгляда*|перехід|перейти|переїзд|міграці*|маибутн*|майбутн*|vi vill|vi funderar|overvag*|
      overgang*|byta till|flytten|flytta till|migrer*|framtid*|fasa ut|
      भविष्य|अगले|القادمة|القادم|المستقبل|ke depan|berikutnya|sắp tới|tương lai|phiên bản sau`,
  },
];
