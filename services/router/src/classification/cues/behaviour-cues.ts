/**
 * Words of a statement. A fault is often told plainly, as what something does or is, where a wish names a thing and a plan
 * asks a question. Beside them the words of a wish that sounds like a complaint.
 */
import type { CueGroup } from "./cue-group.ts";

export const BEHAVIOUR_CUES: readonly CueGroup[] = [
  {
    name: "what something does",
    words: `accumulates|adds|allocates|answers|applies|asks|assigns|attaches|begins|belongs|blocks|books|bounces|calls|cancels|captures|carries|catches|claims|clears|clicks|clips|closes|collapses|collides|commits|compares|complains|confuses|connects|consumes|contains|converts|copies|costs|covers|creates|crops|decodes|deletes|delivers|denies|depends|detects|differ|differs|discards|disconnects|displays|does|doubles|downloads|draws|duplicates|eats|edits|emits|empties|encodes|ends|enters|escapes|evaluates|exceeds|executes|expects|expires|exposes|fetches|fills|fires|flashes|floods|follows|forces|formats|generates|grabs|handles|hides|holds|hogs|includes|inserts|interrupts|invalidates|joins|lands|leads|leaves|lets|lists|locks|makes|marks|matches|means|merges|mixes|names|needs|notifies|occurs|offers|omits|outputs|overflows|overlaps|overrides|overtakes|overwrites|parses|passes|pastes|picks|places|points|polls|pops|presents|prevents|produces|promises|pulls|puts|queues|quits|raises|reacts|rebuilds|recreates|refreshes|refuses|registers|releases|reloads|renders|repeats|replaces|requires|resolves|responds|restarts|reverts|rewrites|rotates|rounds|saves|scales|scrolls|searches|selects|serves|sets|shifts|shrinks|sits|slides|sorts|splits|spreads|stacks|sticks|stores|strips|submits|suggests|swaps|switches|tells|times|toggles|touches|tracks|translates|treats|tries|triggers|trims|truncates|updates|uploads|uses|wants|warns|waits|wipes|wraps|yields|
      zeigt|liefert|springt|bleibt|verschwindet|schneidet|ignoriert|zahlt|nimmt|offnet|ladt|kommt|geht|steht|blendet|rechnet|sortiert|speichert|lauft|startet|schliesst|uberschreibt|verschluckt|blinkt|flackert|
      affiche|affichent|renvoie|ouvre|ferme|reste|disparait|saute|ignore|contient|compte|melange|tient|devient|deviennent|continue|arrive|prend|perd|garde|
      muestra|devuelve|abre|cierra|queda|salta|ignora|contiene|cuenta|oculta|mezcla|no sale|me sale|sale el|sale la|sale un|sale en|sale mal|sale vaci*|salen|sigue|toma|pierde|guarda|distingue|
      devolve|abre|fecha|fica|pula|contem|conta|esconde|mistura|sai|vem|continua|perde|guarda|diferencia|
      mostra|restituisce|apre|chiude|rimane|salta|contiene|conta|nasconde|esce|continua|perde|distingue|
      toont|laat|opent|sluit|blijft|springt|negeert|bevat|telt|verbergt|gaat|komt|staat|staan|valt|doet|neemt|verspringt|
      pokazuje|zwraca|otwiera|zamyka|zostaje|przeskakuje|ignoruje|zawiera|liczy|ukrywa|przychodza|gubi|
      показывает|возвращает|открывает|закрывает|остается|прыгает|игнорирует|содержит|считает|прячет|приходят|уводит|теряет|
      показує|повертає|відкриває|закриває|лишається|стрибає|ігнорує|містить|рахує|ховає|надходять|губить|плутає|
      ukazuje|vraci|otevira|zavira|zustane|zustava|skace|ignoruje|obsahuje|pocita|skryje|chodi|ztraci|lisi se|
      visar|returnerar|oppnar|stanger|stannar|hoppar|ignorerar|innehaller|raknar|doljer|kommer|ligger kvar|blir|gar|tappar`,
  },
  {
    name: "a state",
    words: `is|are|was|were|has|have|had|gets|got|being|been|remains|remain|ist|sind|war|wird|werden|hat|haben|wurde|est|sont|etait|a ete|es|son|esta|estan|era|ha|han|e|sao|foi|estao|sono|viene|vengono|wordt|worden|zijn|heeft|jest|sa|byl|byla|je|jsou|bylo|ma|є|був|була|были|был|ar|blev|blir|har`,
  },
  {
    name: "even so",
    words: `still|even when|even if|even with|even though|although|though|despite|in spite of|regardless of|nonetheless|yet|immer noch|noch immer|trotz|obwohl|toujours|encore|malgre|alors que|todavia|aun|aunque|a pesar|ainda|mesmo|embora|apesar|ancora|anche se|nonostante|nog steeds|nog altijd|ondanks|hoewel|nadal|wciaz|mimo|chociaz|до сих пор|все еще|хотя|несмотря|досі|усе ще|хоча|попри|porad|stale|i kdyz|presto|fortfarande|annu|trots|fast|hala|ragmen|まだ|のに|なのに|ても|还是|仍然|尽管|虽然|明明|却|여전히|아직도|는데도|해도`,
  },
  {
    name: "a gap to fill",
    words: `no way to|no option|no support for|there is no|there's no|theres no|there are no|why is there no|lacks|lack of|missing feature|only supports|only works with|only accepts|only takes|only one|too few|too many clicks|tired of|sick of|fed up|annoying|tedious|painful|by hand|manually|one by one|one at a time|every single time|keep having to|have to type|impossible to find|hard to find|hard to see|is too little|is not enough|why can't|why cant|wheres the|where is the|
      es gibt kein*|fehlt ein*|mir fehlt|nervt|von hand|jedes mal neu|zu wenig|umstandlich|il manque|manque un*|aucun moyen|a la main|ras le bol|penible|falta un*|no hay forma|no hay manera|a mano|pesadez|falta um*|nao tem como|nao ha como|cansei|na mao|manca un*|non c'e modo|a mano|stufo|er is geen|er mist|irritant|met de hand|te weinig|brakuje|nie ma mozliwosci|recznie|ciagle|не хватает|нет возможности|вручную|надоело|бракує|немає можливості|немає способу|вручну|набридло|замало|chybi moznost|neni mozne|rucne|porad dokola|malo|saknar|saknas en|det finns inget satt|for hand|less pa|for lite|eksik|elle|biktim|がない|面倒|手作業|いちいち|手动|太麻烦|太烦|没有办法|每次都要|없네요|귀찮|수동`,
  },
  {
    name: "a negation",
    words: `not|don't|dont|doesn't|doesnt|didn't|didnt|isn't|isnt|aren't|arent|wasn't|weren't|can't|cant|cannot|won't|wont|never|no longer|nothing|nobody|none|without|nicht|nichts|nix|kein*|nie|ohne|ne|pas|rien|jamais|aucun*|sans|no|nada|nunca|ningun*|sin|nao|nenhum*|sem|non|niente|nessun*|senza|mai|niet|niks|niets|geen|nooit|zonder|nic|zaden|bez|не|нет|ничего|никто|без|ні|нічого|ніхто|немає|neni|nejde|nelze|inte|ingen|inget|inga|ingenting|utan|degil|yok|hic|ない|ません|なく|ず|不|没|沒|无|未|안|않|못|없`,
  },
];
