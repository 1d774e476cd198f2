/**
 * The kind of each English word, without its meaning: a verb as it stands, of a third person, in the past or with -ing; a word of
 * grammar; a word that denies; something else. "Cursor jumps to the end" and "Total ignores the tax" share no word, and
 * are built alike.
 */

/** Verbs as they are asked for ("add") and told ("adds"); many are nouns too, so the place of a word decides with it. */
const VERBS = `accept access activate adapt add adjust adopt advance align allocate allow alter animate announce answer append apply archive
  arrange ask assign assume attach audit avoid bind block boot break bring build bump bundle bypass cache calculate call cancel cap
  capture carry catch center change charge check choose claim clamp clean clear click clip clone close collapse collect colour combine come
  commit compare compile complain complete compress compute configure confirm confuse connect consider consolidate contain continue convert
  copy correct count cover crash create crop cut deadlock deal debug declare decode decouple decrease deduplicate default define delay delete deliver
  deny depend deploy deprecate describe detect determine die differ disable disappear discard disconnect display distribute divide do document
  download downgrade drag draw drop dump duplicate edit emit enable encode encrypt end enforce ensure enter error escape evaluate exceed exclude execute
  exit expand expect expire explain explode export expose extend extract fail fall fetch fill filter find finish fire fit fix flash flicker flip
  flush focus fold follow force forget format forward freeze generate get give go grab grow handle hang hide highlight hit hold ignore
  implement import improve include increase indent infer inform inherit init initialise initialize inject insert inspect install integrate interfere
  introduce invalidate invert investigate jump keep kill lack land launch lead leak leave let limit link list listen load lock log look lose
  loosen lower make map mark match measure merge migrate misalign misbehave miss mix mock modify monitor mount move mute navigate
  need nest normalise normalize note notify occur offer omit open optimise optimize order output overflow overlap override overwrite own panic
  parse pass paste pause perform persist pick pin place play point poll pop port post prefer prepare prevent print process produce prompt
  propagate provide publish pull purge push put query queue quit raise rank reach read rebase rebuild receive recognise recognize
  recommend reconnect record recover redirect reduce refactor refer refresh refuse register reject release reload rely remain remember
  remove rename render reopen reorder repeat replace reply report represent require reset resize resolve respect respond restart restore restrict
  retain retry return reuse revert review revise reword rewrite rollback rotate round route run save say scale scan schedule scroll search see
  select send separate serialise serialize serve set share shift ship shorten show shrink shut simplify sit skip slow snap sort spawn specify
  spin split stall start stay stick stop store strip stuck submit succeed suggest support suppress swallow swap switch sync take target
  tell terminate test throttle throw time toggle trace track transform translate treat trigger trim truncate try tune turn type unify uninstall unlock
  unset update upgrade upload use validate vanish verify wait walk want warn watch wire work wrap write yield zoom`;

const PAST = `broke:break broken:break built:build came:come caught:catch chose:choose cut:cut did:do done:do drawn:draw drew:draw
  fell:fall fallen:fall found:find froze:freeze frozen:freeze forgot:forget forgotten:forget gave:give given:give got:get gone:go went:go grew:grow grown:grow held:hold hid:hide
  hidden:hide hung:hang kept:keep led:lead left:leave lost:lose made:make overwritten:overwrite overwrote:overwrite ran:run read:read reset:reset
  said:say saw:see seen:see sent:send set:set shown:show shut:shut spun:spin split:split stuck:stick taken:take took:take threw:throw thrown:throw told:tell
  wrote:write written:write`;

/** Words of grammar, each a kind of its own. */
const GRAMMAR = new Set(
  `the a an this that these those of to in on at for from by with without within into onto over under between across before after until since during
  while when whenever if unless because as than like but and or nor so then though although despite instead even still only just again always never
  sometimes often randomly silently not no cannot can't cant couldn't don't dont doesn't doesnt didn't didnt isn't isnt aren't arent wasn't weren't won't
  wont shouldn't is are was were be been being am has have had do does did can could may might must shall should will would i we you it he she they
  my our your its their me us them there here what which who why how where any some all every each both more less most too very also via per once twice
  please pls maybe currently now`.split(/\s+/),
);

const DENYING = new Set(
  `wrong incorrect incorrectly wrongly invalid missing empty blank broken stale stuck unable unavailable inaccessible unresponsive unclickable unexpected unexpectedly
  inconsistent incompatible unreadable unusable unreachable unreliable unstable unknown undefined undeclared unresolved unrecognized unsupported nonexistent duplicate
  duplicated corrupt corrupted garbled slow sluggish laggy flaky intermittent outdated misleading misaligned useless impossible failure error errors bug crash regression issue problem`.split(
    /\s+/,
  ),
);

const FORMS = formsOf();

/** Every form of each verb with its kind. Where two are alike ("cut", "read", "reset"), the plain one counts. */
function formsOf(): ReadonlyMap<string, string> {
  const forms = new Map<string, string>();
  for (const pair of PAST.split(/\s+/)) {
    const [past = "", verb] = pair.split(":");
    if (verb !== undefined) forms.set(past, "VD");
  }
  for (const verb of VERBS.split(/\s+/)) {
    const stem = verb.endsWith("e") ? verb.slice(0, -1) : verb;
    const doubled = /[^aeiou][aeiou][bdgmnprt]$/.test(verb) ? `${verb}${verb.at(-1) ?? ""}` : stem;
    const soft = /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}i` : stem;
    const third = /(?:s|x|z|ch|sh|o)$/.test(verb) ? `${verb}es` : soft === stem ? `${verb}s` : `${soft}es`;
    forms.set(third, "VS");
    for (const base of [stem, doubled]) forms.set(`${base}ing`, "VG");
    for (const base of [soft, doubled]) if (!forms.has(`${base}ed`)) forms.set(`${base}ed`, "VD");
    forms.set(verb, "V");
  }
  return forms;
}

function kindOf(token: string): string {
  if (GRAMMAR.has(token)) return token;
  if (DENYING.has(token)) return "BAD";
  const form = FORMS.get(token);
  if (form !== undefined) return form;
  if (/^\d/.test(token)) return "0";
  if (!/\p{L}/u.test(token)) return token;
  if (/[_]/.test(token)) return "CODE";
  if (/(?:error|exception)$/.test(token)) return "BAD";
  if (token.length > 4 && token.endsWith("ly")) return "LY";
  return token.length > 3 && /[^su]s$/.test(token) ? "NS" : "N";
}

/** Words that are looked at: the beginning says what is asked, and grammar repeats itself. */
const LOOKED_AT = 24;
const LONGEST_RUN = 4;

/** Runs of one to four kinds; neighbours of one kind N count as one, for a name may have many words. */
export function kindRunsOf(tokens: readonly string[]): string[] {
  const kinds = ["^"];
  for (const token of tokens.slice(0, LOOKED_AT)) {
    const kind = kindOf(token);
    if (kind !== "N" || kinds.at(-1) !== "N") kinds.push(kind);
  }
  if (tokens.length <= LOOKED_AT) kinds.push("$");
  const runs: string[] = [];
  for (let from = 0; from < kinds.length; from += 1) {
    for (let size = 1; size <= LONGEST_RUN && from + size <= kinds.length; size += 1) {
      runs.push(kinds.slice(from, from + size).join(" "));
    }
  }
  return runs;
}
