/** English turns of phrase that no single word carries. English is most of what arrives, and the shortest in words. */
import type { CueGroup } from "./cue-group.ts";

export const ENGLISH_CUES: readonly CueGroup[] = [
  {
    name: "a statement of behaviour",
    words: `shows|show up|shows up|showing|returns|opens|prints|gives|sends|goes|turns|jumps|points to|removes|restores|deletes|resets|keeps|sees|receive|receives|appears|appear|arrive|arrives|arrived|stays|runs|plays|cuts out|loads|starts|takes|took|becomes|became|ends up|comes|came|changes|cuts|blows up|blow up|grows|growing|increments|counts|moves|moved|oscillates|reports|says|thinks|behaves|rejects|accepts|closes|exits|logs|logged out|logs me out|kicked out|kicks|redirects|flashes|blinks|reads|writes|spins|spinning|forgets|remembers|gets|got|went|charged|is sent|are sent|was sent|are shown|is shown|is displayed|just stands|just sits|still the old|still shows|still there|came back|coming back|comes back|looks like|ended up`,
  },
  {
    name: "a demand to end it",
    words: `stop the|stop it|make it stop|please stop it|get rid of the|put an end|put it right|put that right|correct this|please correct|make sure it|should not|shouldn't|shouldnt|it shouldn't|must not|supposed to|is not what|not what|evidently not|should be|should chase|should have|get it back|get it down|heal|kindly resolve|pls help|plz help|help|help me|urgent|asap|now!|needs to be found|find and|find the|find what|find whatever|i want the real reason|can u sort|sort this|sort that|sort please|please see|have to close|customers complain*|complain*|complaint*|angry|screenshot|reported|reports that|we're getting|we are getting|keep getting|keeps|i get|we get|i see|wtf|idk|ffs|oops|lol why|how come|what makes`,
  },
  {
    name: "a contrast",
    words: `but|yet|even though|although|despite|except|works on|works in|works locally|fine on|fine in|normal on|is fine|it's right|while|whereas|instead of one|one instead|before it was|was correct|it was not like|it used to|not before|as expected|expected:|actual:|steps:|what i see|what happens|unless|other browsers|same thing|any browser|tried`,
  },
  {
    name: "a question about a hidden flaw",
    words: `do you see|is there any way|is there any path|is there anything|could this|could the|can this|does this|does the|does it|do these|did we|did i|are our|is our|are there any|would you merge|would you sign|what's your take|whats your take|your take|your view|everyone's view|view on|eyes on|what would you change|what would break|what could go wrong|could go wrong|gets past|be exploited|exploit*|blow up on|yes/no|gut check|terrible idea|dumb|stupid|make any sense|any sense|lmk if|lmk|anythin wrong|anything wrong|poke holes|poke at|talk me out|be gentle|be brutal|be honest|roast|tear it apart|worst things|how bad|how risky|tight enough|hold up|walk over|independent read|neutral person|someone other than|hold your approval|grants anything|truly|really correct|confirm|nothing got lost|mismatch between|against the actual|against the spec|report only|report every|point-by-point|overview of|which of them|list what|list every|list everything|quote the|with line numbers|worst offenders|not to merge|lgtm|approve|approval|sign off|sign-off|merge this|explain what|what it sends|fresh eyes|pick holes|look dumb`,
  },
  {
    name: "a plan in other words",
    words: `path for|upgrade path|migration path|way out|week by week|month by month|days plan|30, 60|critical path|latest start|doable|discovery|discovery:|spike|spike:|size the|size up|work out how|work out the|work out what|write up how|write up what|describe how|description of how|think out|think about how|recommend one|suggest an order|an order for|a sequence|big bang|intermediate|realistic way|what would an|involve|involved|what's involved|policy|process draft|programme|measures|owners|who does what|handed over|handover plan|which pieces|which parts first|how many evenings|how many sprints|how many people|what has to change|what has to be|what we would do|what would have to|rehearsal|pilot|adoption|staged|credible date|a date|date we|for the meeting|for monday's meeting|for the board|to show|can show|nothing executed|no commitment|nobody starts|without big|without downtime|deprecation path|write a design|design sketch|one pager|rough idea|rough numbers|rough cut|prioriti*|now, later|triage`,
  },
  {
    name: "work to carry out",
    words: `let's get|lets get|let's have|lets have|have the|have it|have ci|have a|use the|use|uses|go ahead|please go ahead|get this into|get it into|from now on|off by default|on by default|behind a|behind the|configurable|respects|respecting|respect|keep the|keeps the|make sure|any chance of|chance of|wanna have|wanna|throw out|throw the|rip out|nuke|kill the|kill all|ditch|get rid of all|time to delete|delete all|consolidate|honour|honor|fall back|falls back|fallback|cap at|capped|limit to|as agreed|as discussed|agreed|decided|we decided|signed off|approved by|designs are|copy is|mockup*|figma|attached|already in|is ready|are ready|one label|everywhere|all six|each of|per tenant|per user|per customer|per warehouse|every monday|every friday|once a day|on hover|in the footer|in the header|next to|at the top|top right|at the bottom|above the|below the|with a key|with tests|needs tests|tests for|include tests|includes|includes benchmark|closes #*|resolves #*|implements|introduces|replaces|adds|rewrites|bumps|migrates|ports|stub|set it up|set up|for the wiki|guide for|page which explains|write me a|write a test|unit test|comment the code|label prs|can you fix me up|can be left out|no visual|same look|would love|i'd love|a plus|nice to have|acceptance criteria|given when`,
  },
];
