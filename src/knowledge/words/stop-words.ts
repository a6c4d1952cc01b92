// Words that every text of a language has. They tell which language a text is in, and are the least of what a query asks for. Folded when
// they are read, so they are written as people write them.

import { foldWord } from '../../domain/session/search-words.ts'

const lists: Readonly<Record<string, string>> = {
  en: 'the of and to in is are was were be been it its that this these those for on with as at by from or not an a can could do does did how what when where which who why will would should must may has have had i you we they he she my your our their there if but about into than then so much many any all no',
  de: 'bedeutet bedeuten erkläre erklären der die das den dem des ein eine einer eines einem einen und oder nicht ist sind war waren wird werden wurde kann können muss müssen soll darf hat haben hatte mit von für auf aus bei nach über unter durch zu zum zur im in an am als auch wie was wann wo wer warum welche welcher welches wenn dass sich ich sie wir er es ihr man mein sein nur noch aber so viele viel um bis sowie',
  fr: 'signifie expliquez expliquer estce le la les un une des du de et ou est sont été être a ont avoir pour par sur dans avec sans que qui quoi quand où comment pourquoi quel quelle quels quelles combien ce cette ces cet son sa ses leur leurs notre votre vous nous ils elle il je on au aux ne pas plus si mais comme tout tous peut faire dont même aussi se en',
  es: 'significa explica explicar el la los las un una unos unas de del y o es son fue ser está están era ha han haber para por sobre en con sin que quien qué cuál cuáles cuándo dónde cómo cuánto cuántos este esta estos estas ese esa su sus mi nuestro se lo le les al no más si pero como todo todos puede hay también cada entre hasta yo',
  it: 'significa spiega spiegare il lo la i gli le un uno una di del della dei delle degli dello e o è sono era essere stato ha hanno per da dal dalla su sul nel nella con senza che chi cosa quale quali quando dove come perché quanto quanti questo questa questi queste si non più se ma anche tutto tutti può al alla ai alle agli in ed suo sua',
  pt: 'o a os as um uma uns umas de do da dos das e ou é são foi ser está estão era tem têm para por pelo pela em no na nos nas com sem que quem qual quais quando onde como quanto quantos este esta isto esse essa seu sua se não mais mas também todo todos pode ao aos à às você entre até já muito',
  nl: 'de het een en of is zijn was waren wordt worden werd kan kunnen moet moeten mag heeft hebben had met van voor op uit bij naar over onder door te tot in aan als ook hoe wat wanneer waar wie waarom welke welk dat die dit deze niet geen er ik je u we ze hij zij om maar dan zo veel hun uw',
  sv: 'och att det som en ett den de är var på för med av till från om i inte kan ska skall måste har hade vara blir vid eller men när hur vad vem varför vilken vilka detta denna dessa sig så också efter under över man jag du vi ni din sin alla mer mycket många ej',
  da: 'og at det som en et den de er var på for med af til fra om i ikke kan skal må har havde være bliver ved eller men når hvordan hvad hvem hvorfor hvilken hvilke hvor dette denne disse sig så også efter under over man jeg du vi din sin alle mere meget mange blev blive',
  no: 'og at det som en et ei den de er var på for med av til fra om i ikke kan skal må har hadde være blir ved eller men når hvordan hva hvem hvorfor hvilken hvilke hvor dette denne disse seg så også etter under over man jeg du vi din sin alle mer mye mange ble bli',
  fi: 'ja on ei se että en oli ovat olla joka jotka jos kun kuin myös tai vai mutta niin sen sitä tämä tämän nämä ne hän he minä sinä me voi voidaan voit pitää mitä mikä missä milloin miksi miten kuka kuinka kanssa mukaan jälkeen ennen kaikki vain enää sekä eli',
  pl: 'i w na z się nie jest są był była być do od dla po przez za przed nad pod o oraz lub ale jak co kto kiedy gdzie dlaczego który która które których ten ta to te tego tej czy jego jej ich już tylko może można jako przy także ze',
  cs: 'a v na z se je jsou byl byla být do od pro po přes za před nad pod o nebo ale jak co kdo kdy kde proč který která které ten ta to ty tohoto že si jeho její jejich už jen může lze jako při také ve ze aby podle není',
  hu: 'a az és hogy nem is egy van volt lesz lehet kell meg ha de mint vagy csak már még ez ezt azt ezek azok aki ami amely mi mit ki hol mikor miért hogyan melyik után előtt alatt között minden sem el fel',
  ro: 'și de la în cu pe un o este sunt a fost fi au ai pentru din prin fără că care ce cine când unde cum cât câte acest această aceste sau dar nu mai dacă după despre lor lui ei al ale să se poate toate între până',
  tr: 've bir bu da de için ile olarak olan çok daha gibi ne nasıl nerede neden hangi kim kaç mi mı değil var yok her en o şu ama veya ya kadar sonra önce göre ise olduğu tarafından üzerinde',
  el: 'και το τα του της των η ο οι τη την τον τους στο στη στην στα σε με για από που πως πώς τι ποιος πότε πού είναι ήταν θα να δεν ή αν ένα μια ένας αυτό αυτή αυτά όπως κατά μπορεί έχει',
  ru: 'и в на не что с по как это для к из от у за о он она они мы вы я но или если то так же бы был была было были быть есть при до после через где когда кто чем какой какая какие сколько почему может можно его её их этот эта эти все уже только также',
  uk: 'і в на не що з по як це для до із від у за про він вона вони ми ви я але або якщо то так же був була було були бути є при після через де коли хто чим який яка які скільки чому може можна його її їх цей ця ці всі вже тільки також та й',
}

/** Each word with the languages that have it. */
const languagesOfWord: ReadonlyMap<string, ReadonlySet<string>> = (() => {
  const found = new Map<string, Set<string>>()
  for (const [language, list] of Object.entries(lists))
    for (const written of list.split(' ')) {
      const word = foldWord(written)
      const languages = found.get(word) ?? new Set()
      found.set(word, languages.add(language))
    }
  return found
})()

/** The languages in which this folded word is one that every text has. */
export const languagesWith = (word: string): ReadonlySet<string> => languagesOfWord.get(word) ?? NONE

const NONE: ReadonlySet<string> = new Set()
