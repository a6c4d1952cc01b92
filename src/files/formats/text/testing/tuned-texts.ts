// Texts in many languages, with the encodings that old programs wrote them in. `held-out-texts.ts` has others that
// nothing was tuned on.

export interface LanguageTexts {
  language: string
  /** As `TextDecoder` names them. */
  encodings: string[]
  texts: string[]
}

const western = ['windows-1252', 'macintosh']
const central = ['windows-1250', 'iso-8859-2']

export const tunedTexts: LanguageTexts[] = [
  {
    language: 'German',
    encodings: western,
    texts: [
      'Die Hafenbehörde führt über jedes Schiff Buch, das die Bucht anläuft. Für die nächste Woche sind größere Bauarbeiten angekündigt; während dieser Zeit müssen Fähren am südlichen Kai anlegen. Wir bitten um Verständnis.',
      'Grüße, Frau Müßig – „Zürich“ für 5 €',
      'Name;Ort;Betrag\nMüller;Köln;12,50\nSchmidt;Berlin;7,00\nJäger;Görlitz;3,20\n',
      'Sehr geehrte Damen und Herren, hiermit kündige ich den Vertrag fristgemäß zum nächstmöglichen Zeitpunkt. Bitte bestätigen Sie mir den Eingang der Kündigung schriftlich. Mit freundlichen Grüßen, Jörg Schäfer',
      'Kundennr,Straße\n1,Hauptstr. 5\n2,Mühlweg 7\n',
      'Das Mädchen hört schöne Vögel.',
    ],
  },
  {
    language: 'French',
    encodings: western,
    texts: [
      'La capitainerie tient un registre de tous les navires qui entrent dans la baie. À partir de la semaine prochaine, des travaux sont prévus sur le quai est ; les bateaux de pêche devront accoster près du marché où l’on vend déjà les légumes.',
      'L’été à Noël, l’œuvre créée : « Où ça ? »',
      'nom,ville,montant\nLefèvre,Orléans,12.50\nDupont,Paris,7.00\nGarçon,Nîmes,3.20\n',
      'Madame, Monsieur, je vous écris au sujet de la facture n° 128 que j’ai reçue hier. Le montant ne correspond pas à celui du devis accepté en février ; pourriez-vous vérifier et me répondre dès que possible ? Meilleures salutations, Hélène',
      'prénom,âge\nChloé,31\nFrançois,45\n',
      'Le garçon a mangé un gâteau à la crème.',
    ],
  },
  {
    language: 'Spanish',
    encodings: western,
    texts: [
      'La autoridad del puerto lleva un registro de cada barco que entra en la bahía. Mañana por la mañana cerrará el muelle pequeño; según el capitán, la reparación durará tres días más de lo que se había previsto.',
      '¿Qué año? El niño comió 3 piñas, ¡adiós!',
      'nombre,ciudad,importe\nMuñoz,Málaga,12.50\nGarcía,Madrid,7.00\nPeña,León,3.20\n',
      'Estimado señor: le escribo en relación con el pedido número 128 que hice el miércoles pasado. Todavía no he recibido ninguna confirmación; ¿podría decirme cuándo llegará? Muchas gracias por su atención. José Ibáñez',
      'id,artículo\n1,jamón\n2,azúcar\n',
      'El avión salió después del mediodía.',
    ],
  },
  {
    language: 'Portuguese',
    encodings: western,
    texts: [
      'A administração do porto mantém um registo de cada navio que entra na baía. Na próxima semana não haverá ligações à ilha, porque as obras de manutenção começarão às seis horas da manhã e só terminarão à noite.',
      'A reunião é amanhã às três; não há almoço.',
      'nome,cidade,valor\nGonçalves,São Paulo,12.50\nSilva,Lisboa,7.00\nSimões,Évora,3.20\n',
      'Exmo. Senhor, venho por este meio solicitar informações sobre a situação do meu pedido. A encomenda foi feita há três semanas e ainda não chegou; poderá dizer-me até quando será possível a devolução? Com os melhores cumprimentos, João',
      'produto;preço\nmaçã;1,20\nfeijão;2,10\n',
      'Você já viu o avô de Inês no café?',
    ],
  },
  {
    language: 'Italian',
    encodings: western,
    texts: [
      'La capitaneria di porto tiene un registro di ogni nave che entra nella baia. Da lunedì la banchina sarà chiusa perché è necessario riparare le gru; la città offrirà più corse di autobus, così si potrà arrivare in tempo.',
      'Perché non c’è più caffè? Verrò giovedì.',
      'nome,luogo,attività\nRossi,Forlì,libertà\nBianchi,Roma,caffè\n',
      'Gentile signora, Le scrivo perché non ho ancora ricevuto l’ordine di martedì scorso. Mi è stato detto che sarebbe arrivato entro venerdì, però la società di spedizioni non sa dov’è. Potrà dirmi di più? Cordiali saluti, Niccolò',
      'città,qualità\nCantù,buona\nForlì,ottima\n',
      'Andrò all’università lunedì.',
    ],
  },
  {
    language: 'Swedish',
    encodings: western,
    texts: [
      'Hamnkontoret för bok över alla fartyg som löper in i viken. Under nästa vecka är kajen stängd på grund av större arbeten, så färjorna måste lägga till vid det södra läget. Vi ber om överseende för störningarna.',
      'Åsa och Örjan äter räksmörgås på båten.',
      'namn;ort;belopp\nSjöberg;Malmö;12,50\nLind;Lund;7,00\nÅkesson;Växjö;3,20\n',
      'Hej! Jag skriver för att fråga om min beställning från förra måndagen. Enligt er hemsida skulle paketet ha kommit redan i går, men jag har ännu inte hört något. Kan ni återkomma så snart som möjligt? Vänliga hälsningar, Göran',
      'vara;antal\nsmör;3\nkött;2\nbröd;1\n',
      'Flickan går över gatan.',
    ],
  },
  {
    language: 'Danish',
    encodings: western,
    texts: [
      'Havnekontoret fører bog over alle skibe, der sejler ind i bugten. I næste uge er kajen lukket på grund af større arbejder, og færgerne må lægge til ved den sydlige bro. Vi håber på jeres forståelse for ændringerne.',
      'Søren og Åse spiser rødgrød med fløde på øen.',
      'navn;by;beløb\nSørensen;Århus;12,50\nLund;Vejle;7,00\nKjær;Tønder;3,20\n',
      'Kære kundeservice, jeg skriver, fordi jeg endnu ikke har fået svar på min henvendelse fra i går. Bestillingen skulle være sendt på lørdag, men pakken er forsvundet. Kan I hjælpe mig så hurtigt som muligt? Venlig hilsen, Jørgen',
      'vare;antal\nsmør;3\nkød;2\nbrød;1\n',
      'Pigen går over broen på tirsdag.',
    ],
  },
  {
    language: 'Finnish',
    encodings: western,
    texts: [
      'Satamatoimisto pitää kirjaa jokaisesta lahteen saapuvasta laivasta. Ensi viikolla laituri on suljettu töiden vuoksi, ja lautat lähtevät eteläisestä satamasta. Pyydämme anteeksi häiriötä ja kiitämme kärsivällisyydestä.',
      'Hyvää päivää, näemme myöhemmin tänään.',
      'nimi;kaupunki;määrä\nVirtanen;Jyväskylä;12,50\nHämäläinen;Turku;7,00\n',
      'Hei, kirjoitan teille viime maanantain tilauksesta. Verkkosivujenne mukaan paketin piti tulla jo eilen, mutta en ole vielä kuullut mitään. Voisitteko vastata mahdollisimman pian? Ystävällisin terveisin, Päivi Mäkelä',
      'tuote;kpl\nleipä;3\nmaito;2\nsieniä;1\n',
      'Tyttö menee kävelylle metsään.',
    ],
  },
  {
    language: 'Icelandic',
    encodings: ['windows-1252'],
    texts: [
      'Hafnarskrifstofan heldur skrá yfir öll skip sem koma inn í flóann. Í næstu viku verður bryggjan lokuð vegna viðgerða og þá þurfa ferjurnar að leggjast að við suðurbakkann. Við biðjumst velvirðingar á þessu ónæði.',
      'Það er gott að vera á Íslandi.',
      'nafn;staður\nÞórður;Akureyri\nGuðrún;Ísafjörður\n',
      'Góðan dag, ég skrifa vegna pöntunar minnar frá síðasta mánudegi. Samkvæmt vefsíðunni átti pakkinn að koma í gær en ég hef ekkert heyrt ennþá. Getið þið svarað mér sem fyrst? Með kveðju, Sigríður',
      'vara;fjöldi\nsmjör;3\nbrauð;2\n',
    ],
  },
  {
    language: 'Polish',
    encodings: central,
    texts: [
      'Kapitanat portu prowadzi rejestr każdego statku, który wpływa do zatoki. W przyszłym tygodniu nabrzeże będzie zamknięte z powodu większych prac, dlatego promy muszą cumować przy południowym pomoście. Prosimy o wyrozumiałość.',
      'Proszę państwa, w środę będzie święto Łodzi.',
      'imię;miasto;kwota\nWiśniewski;Łódź;12,50\nNowak;Kraków;7,00\nZając;Gdańsk;3,20\n',
      'Dzień dobry, piszę w sprawie zamówienia z ubiegłego poniedziałku. Według strony internetowej paczka miała przyjść już wczoraj, ale do tej pory nic nie dotarło. Czy mogą Państwo jak najszybciej odpowiedzieć? Z poważaniem, Małgorzata Dąbrowska',
      'towar;ilość\nmasło;3\nchleb;2\njabłka;1\n',
      'Dziewczyna idzie przez ulicę i śpiewa piosenkę.',
    ],
  },
  {
    language: 'Czech',
    encodings: central,
    texts: [
      'Správa přístavu vede záznamy o každé lodi, která vplouvá do zálivu. Příští týden bude nábřeží uzavřeno kvůli větším pracím, a proto musí trajekty přistávat u jižního mola. Děkujeme za pochopení a omlouváme se za potíže.',
      'Příliš žluťoučký kůň úpěl ďábelské ódy.',
      'jméno;město;částka\nDvořák;Plzeň;12,50\nNovák;Praha;7,00\nRůžička;Děčín;3,20\n',
      'Dobrý den, píši Vám ohledně objednávky z minulého pondělí. Podle webových stránek měl balíček přijít už včera, ale zatím nic nedorazilo. Můžete mi prosím co nejdříve odpovědět? S pozdravem Jiří Svoboda',
      'zboží;počet\nmáslo;3\nchléb;2\n',
      'Děvče jde přes ulici a zpívá píseň.',
    ],
  },
  {
    language: 'Slovak',
    encodings: central,
    texts: [
      'Správa prístavu vedie záznamy o každej lodi, ktorá vpláva do zálivu. Budúci týždeň bude nábrežie uzavreté kvôli väčším prácam, a preto musia trajekty pristávať pri južnom móle. Ďakujeme vám za pochopenie.',
      'Kŕdeľ šťastných ďatľov učí koňa žrať kôru.',
      'meno;mesto;suma\nĎurica;Žilina;12,50\nKováč;Košice;7,00\nĽuptáková;Trenčín;3,20\n',
      'Dobrý deň, píšem Vám ohľadom objednávky z minulého pondelka. Podľa webovej stránky mal balík prísť už včera, ale zatiaľ nič neprišlo. Môžete mi prosím čo najskôr odpovedať? S pozdravom Ľubomír',
      'tovar;počet\nmaslo;3\nmäso;2\nchlieb;1\n',
      'Dievča ide cez ulicu a spieva pieseň.',
    ],
  },
  {
    language: 'Hungarian',
    encodings: central,
    texts: [
      'A kikötői hivatal minden hajóról nyilvántartást vezet, amely az öbölbe érkezik. A jövő héten a rakpart nagyobb munkák miatt zárva lesz, ezért a kompok a déli mólónál kötnek ki. Köszönjük a megértésüket és elnézést kérünk.',
      'Árvíztűrő tükörfúrógép, jó reggelt kívánok!',
      'név;város;összeg\nSzűcs;Győr;12,50\nNagy;Pécs;7,00\nErdős;Szőreg;3,20\n',
      'Tisztelt Ügyfélszolgálat! A múlt hétfői megrendelésem ügyében írok. A honlap szerint a csomagnak már tegnap meg kellett volna érkeznie, de még nem kaptam semmit. Kérem, válaszoljanak minél előbb! Üdvözlettel: Kovács Zsófia',
      'áru;mennyiség\nvaj;3\nkenyér;2\nhús;1\n',
      'A lány átmegy az utcán és énekel.',
    ],
  },
  {
    language: 'Croatian',
    encodings: central,
    texts: [
      'Lučka kapetanija vodi evidenciju o svakom brodu koji ulazi u zaljev. Sljedeći tjedan obala će biti zatvorena zbog većih radova, pa će trajekti pristajati na južnom gatu. Molimo vas za razumijevanje i ispričavamo se što će biti gužva.',
      'Šišmiš žuri kući, čovječe, đak uči.',
      'ime;grad;iznos\nHorvat;Šibenik;12,50\nBabić;Osijek;7,00\nŽupan;Čakovec;3,20\n',
      'Poštovani, pišem vam u vezi s narudžbom od prošlog ponedjeljka. Prema vašoj stranici paket je trebao stići već jučer, ali još ništa nije došlo. Možete li mi odgovoriti što prije? Srdačan pozdrav, Željko Marković',
      'roba;količina\nmaslac;3\nkruh;2\n',
      'Djevojčica prelazi cestu i pjeva pjesmu o moru i kiši.',
    ],
  },
  {
    language: 'Romanian',
    encodings: ['windows-1250'],
    texts: [
      'Căpitănia portului ţine evidenţa fiecărei nave care intră în golf. Săptămâna viitoare cheiul va fi închis din cauza unor lucrări mai mari, iar feriboturile vor acosta la digul din sud. Vă mulţumim pentru înţelegere şi răbdare.',
      'Bună ziua, vă rog să-mi daţi nişte pâine şi apă.',
      'nume;oraş;sumă\nIonescu;Bucureşti;12,50\nPopa;Piteşti;7,00\nBălan;Constanţa;3,20\n',
      'Bună ziua, vă scriu în legătură cu comanda de lunea trecută. Conform site-ului, pachetul trebuia să ajungă încă de ieri, dar nu am primit nimic până acum. Îmi puteţi răspunde cât mai repede? Cu stimă, Ştefan Rădulescu',
      'marfă;cantitate\nunt;3\npâine;2\n',
      'Fata trece strada şi cântă o melodie frumoasă.',
    ],
  },
  {
    language: 'Turkish',
    encodings: ['windows-1254'],
    texts: [
      'Liman idaresi körfeze giren her geminin kaydını tutar. Gelecek hafta büyük onarım çalışmaları nedeniyle rıhtım kapalı olacak, bu yüzden feribotlar güney iskelesine yanaşacaktır. Anlayışınız için şimdiden teşekkür ederiz.',
      'Günaydın, çocuğun ağabeyi bugün İstanbul’a gidiyor mu?',
      'ad;şehir;tutar\nYıldız;İzmir;12,50\nKaya;Ankara;7,00\nÖztürk;Eskişehir;3,20\n',
      'Merhaba, geçen pazartesi verdiğim sipariş hakkında yazıyorum. İnternet sitenize göre paketin dün gelmesi gerekiyordu ama henüz hiçbir şey almadım. En kısa sürede cevap verebilir misiniz? Saygılarımla, Ayşe Çağlar',
      'ürün;adet\ntereyağı;3\nekmek;2\nbalık;1\n',
      'Kız sokağın karşısına geçiyor ve şarkı söylüyor.',
    ],
  },
  {
    language: 'Lithuanian',
    encodings: ['windows-1257'],
    texts: [
      'Uosto administracija registruoja kiekvieną į įlanką įplaukiantį laivą. Kitą savaitę krantinė bus uždaryta dėl didesnių darbų, todėl keltai švartuosis prie pietinės prieplaukos. Dėkojame už supratimą ir kantrybę, kurią rodote.',
      'Ačiū, šiandien žmonės čia šoka ir dainuoja.',
      'vardas;miestas;suma\nŽukauskas;Šiauliai;12,50\nKazlauskienė;Panevėžys;7,00\n',
      'Laba diena, rašau dėl praėjusio pirmadienio užsakymo. Pagal jūsų svetainę siuntinys turėjo ateiti jau vakar, bet iki šiol nieko negavau. Ar galėtumėte kuo greičiau atsakyti? Pagarbiai, Jūratė Petrauskaitė',
      'prekė;kiekis\nsviestas;3\nduona;2\n',
      'Mergaitė eina per gatvę ir dainuoja dainą.',
    ],
  },
  {
    language: 'Latvian',
    encodings: ['windows-1257'],
    texts: [
      'Ostas pārvalde reģistrē katru kuģi, kas ienāk līcī. Nākamajā nedēļā krastmala būs slēgta lielāku darbu dēļ, tāpēc prāmjiem jāpiestāj pie dienvidu mola. Pateicamies par sapratni un atvainojamies par sagādātajām neērtībām.',
      'Šodien bērni spēlējas pļavā un dzied dziesmas.',
      'vārds;pilsēta;summa\nBērziņš;Rīga;12,50\nKalniņa;Liepāja;7,00\n',
      'Labdien, rakstu par savu pagājušās pirmdienas pasūtījumu. Saskaņā ar jūsu mājaslapu sūtījumam vajadzēja pienākt jau vakar, bet es vēl neko neesmu saņēmis. Vai jūs varētu atbildēt pēc iespējas ātrāk? Ar cieņu, Jānis',
      'prece;skaits\nsviests;3\nzivs;2\nābols;1\n',
      'Meitene iet pāri ielai un dzied dziesmu.',
    ],
  },
  {
    language: 'Estonian',
    encodings: ['windows-1252', 'windows-1257'],
    texts: [
      'Sadamaamet peab arvestust iga laeva üle, mis lahte sõidab. Järgmisel nädalal on kai suuremate tööde tõttu suletud, seetõttu peavad praamid randuma lõunapoolse silla juures. Täname mõistva suhtumise ja kannatlikkuse eest.',
      'Tere õhtust, kas sõidame täna või jääme ööseks?',
      'nimi;linn;summa\nTõnisson;Pärnu;12,50\nKõiv;Võru;7,00\nMägi;Jõhvi;3,20\n',
      'Tere, kirjutan teile eelmise esmaspäeva tellimuse pärast. Kodulehe järgi pidi pakk juba eile kohale jõudma, aga ma pole veel midagi kuulnud. Kas saaksite võimalikult kiiresti vastata? Lugupidamisega Ülle Põder',
      'kaup;kogus\nvõi;3\nleib;2\nõun;1\n',
      'Tüdruk läheb üle tänava ja laulab.',
    ],
  },
  {
    language: 'Russian',
    encodings: ['windows-1251', 'koi8-r', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic'],
    texts: [
      'Администрация порта ведёт учёт каждого судна, которое входит в залив. На следующей неделе набережная будет закрыта из-за крупных работ, поэтому паромы должны причаливать у южного мола. Благодарим за понимание.',
      'Уважаемые коллеги, завтра в порту закрыт причал.',
      'name,city\nsmith,Москва\njones,Казань\n',
      'Здравствуйте, пишу вам по поводу заказа, который я сделал в прошлый понедельник. На сайте написано, что посылка должна была прийти ещё вчера, но я пока ничего не получил. Не могли бы вы ответить как можно скорее?',
      'товар;количество\nмасло;3\nхлеб;2\n',
      'Девочка идёт через улицу.',
    ],
  },
  {
    language: 'Ukrainian',
    encodings: ['windows-1251', 'koi8-u'],
    texts: [
      'Адміністрація порту веде облік кожного судна, яке входить до затоки. Наступного тижня набережна буде закрита через великі роботи, тому пороми мають причалювати біля південного молу. Дякуємо за розуміння і терпіння.',
      'Шановні колеги, завтра її причал буде зачинено.',
      'name,city\nsmith,Київ\njones,Чернігів\n',
      'Доброго дня, пишу вам щодо замовлення, яке я зробив минулого понеділка. На сайті написано, що посилка мала прийти ще вчора, але я поки що нічого не отримав. Чи могли б ви відповісти якнайшвидше? Дякую, Їжакевич',
      'товар;кількість\nолія;3\nхліб;2\n',
    ],
  },
  {
    language: 'Bulgarian',
    encodings: ['windows-1251'],
    texts: [
      'Пристанищната администрация води отчет за всеки кораб, който влиза в залива. Следващата седмица кеят ще бъде затворен заради по-големи работи, затова фериботите трябва да спират при южния мол. Благодарим за разбирането.',
      'Добър ден, къде е пощата?',
      'name,city\nsmith,Пловдив\njones,Търново\n',
      'Здравейте, пиша ви във връзка с поръчката от миналия понеделник. Според сайта пратката трябваше да пристигне още вчера, но все още нищо не съм получил. Бихте ли отговорили възможно най-бързо?',
      'стока;брой\nмасло;3\nхляб;2\n',
    ],
  },
  {
    language: 'Greek',
    encodings: ['windows-1253', 'iso-8859-7'],
    texts: [
      'Το λιμεναρχείο τηρεί αρχείο για κάθε πλοίο που μπαίνει στον κόλπο. Την επόμενη εβδομάδα η προβλήτα θα είναι κλειστή λόγω μεγάλων εργασιών, γι’ αυτό τα φέρι πρέπει να δένουν στον νότιο μόλο. Ευχαριστούμε για την κατανόηση.',
      'Καλημέρα σας, το λιμάνι είναι κλειστό.',
      'name,city\nsmith,Αθήνα\njones,Θεσσαλονίκη\n',
      'Καλησπέρα, σας γράφω σχετικά με την παραγγελία της περασμένης Δευτέρας. Σύμφωνα με την ιστοσελίδα σας το δέμα έπρεπε να έχει φτάσει ήδη χθες, αλλά δεν έχω λάβει τίποτα. Μπορείτε να μου απαντήσετε;',
      'είδος;ποσότητα\nβούτυρο;3\nψωμί;2\n',
      'Το κορίτσι περνάει τον δρόμο.',
    ],
  },
  {
    language: 'Hebrew',
    encodings: ['windows-1255'],
    texts: [
      'רשות הנמל מנהלת רישום של כל אונייה שנכנסת למפרץ. בשבוע הבא הרציף יהיה סגור בגלל עבודות גדולות, ולכן המעבורות צריכות לעגון ליד המזח הדרומי. אנו מודים לכם על ההבנה.',
      'שלום לכולם, הנמל סגור היום.',
      'name,city\nsmith,תל אביב\njones,ירושלים\n',
      'שלום רב, אני כותב לכם בקשר להזמנה שלי מיום שני שעבר. לפי האתר החבילה הייתה צריכה להגיע כבר אתמול, אבל עדיין לא קיבלתי כלום. האם תוכלו לענות לי בהקדם האפשרי?',
      'מוצר,כמות\nחמאה,3\nלחם,2\n',
    ],
  },
  {
    language: 'Arabic',
    encodings: ['windows-1256'],
    texts: [
      'تحتفظ إدارة الميناء بسجل لكل سفينة تدخل الخليج. في الأسبوع القادم سيكون الرصيف مغلقا بسبب أعمال كبيرة، لذلك يجب على العبارات أن ترسو عند الرصيف الجنوبي. نشكركم على تفهمكم.',
      'صباح الخير، الميناء مغلق اليوم.',
      'name,city\nsmith,القاهرة\njones,الإسكندرية\n',
      'السلام عليكم، أكتب إليكم بخصوص طلبي من يوم الاثنين الماضي. حسب الموقع كان من المفروض أن يصل الطرد أمس، ولكنني لم أستلم أي شيء حتى الآن. هل يمكنكم الرد في أقرب وقت؟',
      'السلعة,الكمية\nزبدة,3\nخبز,2\n',
    ],
  },
  {
    language: 'Thai',
    encodings: ['windows-874'],
    texts: [
      'การท่าเรือเก็บบันทึกของเรือทุกลำที่เข้ามาในอ่าว สัปดาห์หน้าท่าเรือจะปิดเพราะมีงานซ่อมแซมขนาดใหญ่ เรือข้ามฟากจึงต้องจอดที่ท่าเรือด้านใต้ ขอขอบคุณที่เข้าใจ',
      'สวัสดีครับ วันนี้ท่าเรือปิด',
      'name,city\nsmith,กรุงเทพ\njones,เชียงใหม่\n',
      'เรียนฝ่ายบริการลูกค้า ผมเขียนมาเรื่องคำสั่งซื้อเมื่อวันจันทร์ที่แล้ว ตามเว็บไซต์พัสดุควรจะมาถึงตั้งแต่เมื่อวานนี้ แต่ผมยังไม่ได้รับอะไรเลย กรุณาตอบกลับโดยเร็วที่สุด',
      'สินค้า,จำนวน\nเนย,3\nขนมปัง,2\n',
    ],
  },
  {
    language: 'Japanese',
    encodings: ['shift_jis', 'euc-jp', 'iso-2022-jp'],
    texts: [
      '港の事務所は、湾に入るすべての船を記録しています。来週は大きな工事のため岸壁が閉鎖されますので、フェリーは南の桟橋に着けてください。ご理解とご協力をお願いいたします。',
      '港の事務所は船を記録しています。',
      'id,品名\n1,カメラ\n2,プリンター\n',
      'お世話になっております。先週の月曜日に注文した商品についてお伺いします。サイトによると昨日届くはずでしたが、まだ何も届いていません。できるだけ早くお返事をいただけますでしょうか。',
      '商品,数量\nバター,3\nパン,2\n',
      '氏名,住所\n山田太郎,東京都港区\n鈴木花子,大阪市北区\n',
    ],
  },
  {
    language: 'Simplified Chinese',
    encodings: ['gb18030'],
    texts: [
      '港务局记录每一艘进入海湾的船只。下个星期码头因为大型工程将会关闭，所以渡轮必须停靠在南边的栈桥。我们对给大家带来的不便表示歉意，感谢你们的理解。',
      '港务局记录每一艘进入海湾的船只，这是我们的公告。',
      '姓名,地址\n王小明,北京市朝阳区\n',
      '您好，我想询问一下上周一的订单。网站上说包裹昨天就应该到了，但是我到现在还没有收到任何东西。请尽快给我答复，谢谢！',
      '商品,数量\n黄油,3\n面包,2\n',
      '女孩正在过马路，她还唱着歌。',
    ],
  },
  {
    language: 'Traditional Chinese',
    encodings: ['big5'],
    texts: [
      '港務局記錄每一艘進入海灣的船隻。下個星期碼頭因為大型工程將會關閉，所以渡輪必須停靠在南邊的棧橋。我們對給大家帶來的不便表示歉意，感謝你們的理解。',
      '港務局記錄每一艘進入海灣的船隻，這是我們的公告。',
      '姓名,地址\n王小明,台北市中山區\n',
      '您好，我想詢問一下上週一的訂單。網站上說包裹昨天就應該到了，但是我到現在還沒有收到任何東西。請盡快給我答覆，謝謝！',
      '商品,數量\n奶油,3\n麵包,2\n',
      '女孩正在過馬路，她還唱著歌。',
    ],
  },
  {
    language: 'Korean',
    encodings: ['euc-kr'],
    texts: [
      '항만 사무소는 만에 들어오는 모든 선박의 기록을 보관합니다. 다음 주에는 큰 공사 때문에 부두가 폐쇄되므로 여객선은 남쪽 잔교에 대어 주시기 바랍니다. 여러분의 이해와 협조에 감사드립니다.',
      '항만 사무소는 모든 선박의 기록을 보관합니다.',
      '이름,주소\n김민수,서울특별시\n',
      '안녕하세요, 지난 월요일에 주문한 상품에 대해 문의드립니다. 홈페이지에 따르면 어제 이미 도착했어야 하는데 아직 아무것도 받지 못했습니다. 가능한 한 빨리 답변해 주시면 감사하겠습니다.',
      '상품,수량\n버터,3\n빵,2\n',
      '소녀가 길을 건너며 노래를 부릅니다.',
    ],
  },
]
