/**
 * The 1600 most frequent words of documents and code that are one token each in the public vocabularies of 100,000 and 200,000
 * entries, in small letters and with a capital, after a blank and without one. Counted over the documents, types and programs of
 * this project's packages and the library of Python.
 */
const WORDS = `
abort about above abs absolute abstract accept accepted access according account ack action actions active actual
actually adapter add added adding additional addr address addresses adds admin after again against age agent
agents alg algorithm alias align alive all alloc allow allowed allows along alpha already also alt alternative
always amount analysis anchor and angle annotation another ans answer any anything apache api app append
application apply approval arch archive are arg args argument arguments around arr array arrays arrow ask assert
assign assigned assignment associate associated ast async atomic attach attached attempt attr attribute
attributes audio auth authenticate authentication author authority authorization authors auto available avoid
await back backend background bad badge bar base based basic batch because been before begin behavior being below
benchmark best better between big bin binary bind binding bio bit bits blank blob block blocking blocks blue body
bold bool boolean boot bootstrap border both bound boundary box branch break broken browser bucket budget buf
buffer bug build builder building built bus but button byte bytes cache cached calc call callback called caller
calling calls can cancel candidate cannot canvas capture case cases cast catch category cause cell center cert
certificate chain challenge change changed changes channel char character characters charset check checked
checking checks child children choice choices chunk cipher claims class classes clean cleanup clear cli client
clients clone close closed closing cluster cmd code codec codes coding col collect collection collections colon
color colors column columns com combine combined come command commands comment comments commit common comp
compare comparison compatible compile compiler complete completed completion complex component components
compression compute condition conditional conditions config configuration configure conn connect connected
connection connections consider console const constant constants constraint constraints construct constructor
consumer contact container contains content contents context continue contract contracts control controller
conversion convert converted converter cookie cookies copy copyright core correct could count counter counts
cover coverage create created creates creating creation credentials cross crypto css cur current currently cursor
curve custom dark dash data database date day days deadline deal debug dec decimal decl declare decode decoder
deep def default defaults define defined defines definition definitions del delay delegate delete deleted delta
demo dep dependencies dependency depending deprecated depth der derived desc describe description descriptor dest
destination destroy detail details detect dev developer device dict dictionary did diff difference different
digest digit dim dir direct direction directive director directory disable disabled disconnect disk dispatch
dispatcher display dist distribution div doc docs document documentation does doing dom domain don done dot
double down download downloads draft draw drop dry due dummy dump duplicate duration during dynamic each early
easy edge edit edition effect either elem element elements else email embedded empty enable enabled enc encode
encoder encoding end endpoint engine ensure enter entity entries entry enum env environment epoch equal equals
err error errors esc escape eval evaluate even event events every everything exact example examples exc except
exception exceptions exclusive exec execute execution executor exist existing exists exit exp expand expect
expected experimental explicit export expr express expression ext extend extended extension extensions external
extra extract extras face factory fail failed failure false family fast fatal feature features fetch field fields
file filename files fill filter filters final finally find finder finish finished first fix fixed flag flags flat
float floor flow flush fold folder follow following font foo for force form format formats formatter forward
found foundation four fraction fragment frame frames framework free from full fully func function functions
future gateway gen general generate generated generator generic get gets getter getting git github give given
global globals good google got grammar grant graph greater green grid group groups gtk guard guess guide had half
hand handle handler handles handling has hash have head header headers heading heap height hello help helper
helpers here hex hidden high highlight hint history hit home hook hooks host hour how however html http ident
identifier identity idle ignore image images img impl implement implementation import important imports inc
include included includes including incoming index indexed individual info information init initial initialize
initialized inject inline inner input inputs insert inside install installation installed instance instances
instead instruction int integer integration intent interactive interface interfaces internal interrupt interval
into invalid invoke iso issue issues item items iter iterator its java javascript jet job join journal json judge
just jwt keep key keyboard keys keyword keywords kill kind know known label labels lambda lang language large
last later latest latin law layer layout lazy leading leaf least leave left legacy len length less let letter
letters level levels lexer lib library license licensed light like limit limits line lines link links linux list
listen listener lists literal little live load loaded loader loading loc local locale location locations lock log
logger logging logic logical logs long look looks lookup loop lost low lower mac machine macro made magic main
major make makes making man manager manifest many map mapping maps mark marker mask master match matcher matches
matching math matrix max maximum may maybe mean means measure measurement media medium member members memo memory
merge message messages meta metadata method methods metric metrics middleware min minimum minor minute missing
mixed mock mod mode model models modified modify module modules month more most mouse move moves msg much multi
multiple must mutable name named names namespace native need needed needs negative nested net network never new
next node nodes non none normal normalize not note notes nothing notice notification notifications notify now
null num number numbers numeric obj object objects oct off offset old once one only open opening operation
operations operator operators ops opt option optional options ord order ordered org orig origin original other
others otherwise our out output outputs outside over overflow override own owner pack package packages pad
padding page pages pair parallel param parameter parameters params parent parse parser part partial partition
parts pass passed password patch path paths pattern patterns pause payload peer pending people per percent
perform performance period permission permissions persistent person phase php pick picker ping pipe pipeline
place placeholder plain plan platform please plugin plugins plus point pointer points policy poll poly pool pop
port pos position positive possible post power pre precision pred predicate prefix prepare presence present
pretty prev previous primary prime primitive print prior priority private probably problem proc process
processing profile profiles program progress project promise prompt prop properties property props protected
proto protocol prototype provide provider proxy pub public publish published pull pure purpose push put python
qualified query question queue quiet quote quotes raise raised raises random range rate rather rating ratio raw
react read reader reading ready real really realm reason receive received receiver recent recommended record
records recursive red redirect reduce ref refer reference references reflect refresh reg regex region register
registered registration registry regular reject related relative release remaining remote remove removed rename
render repeat replace replacement reply repo report reports repository represent representation req request
requests require required requirements requires res reserved reset resolution resolve resolver resource resources
resp response responses rest restore result results resume ret retrieve retry return returned returns rev reverse
rich right rights root round route router routes row rows ruby rule rules run runner running runs runtime safe
salt same sample sampling save saved scalar scan schedule schema scheme scope screen script scripts scroll search
sec second seconds secret section secure security see seed seek seen seg segment select selected selection
selector self semantic send sender sending sent sep separator seq sequence serial serialization serialize
serialized serializer serve server servers service services session sessions set sets setter setting settings
setup severity sha shape share shared shell shift short should show shutdown side sig sign signal signals
signature signed similar simple since single site six size skin skip slash sleep slice slots slow small snapshot
socket software some something sort sorted source sources space spaces span spawn spec special specific speed
spinner split spread square src stack standard star start started starting stat state statement states static
statistics stats status std step steps still stop storage store stored str strategy stream streams strict string
strings strip strong struct structure stuff style styles sub subject subscription success successful such suite
sum summary super support supported sure svg switch symbol symbols sync syntax sys system systems tab table tabs
tag tags tail take taken tap tar target task tasks team tell temp template templates temporary term terminal
terms test testing tests text than thanks that the their them theme then there these they thing things third this
those though thread threads three through throw throws thus tick time timeout timer times timestamp title tok
token tokens too tool tools top total trace track tracker transfer transform transition translate transport tree
trigger trim true trust try tuple turn two txt typ type typed types uint unable undefined under unexpected
unicode union unique unit unix unknown unless unsafe unsupported until update updated updates upgrade upon upper
uri url usage use used user username users uses using usually utf util utility utils val valid validate
validation validator value values var variable variables variant vector vendor ver verb verification verify
version versions vertical very via view virtual visibility visible visitor visual void wait waiting walk want
warn warning was watch way weak web weight well were what wheel when where whether which while white who whole
why width wiki will win window windows wire with within without woman won word words work worker workers workflow
working works world would wrap wrapped wrapper write writer writes writing written wrong xml year yes yet you
your zero zip zone
`;

export const COMMON_WORDS: ReadonlySet<string> = new Set(WORDS.trim().replaceAll("\n", " ").split(" "));
