// Texts that the judge of encodings was not tuned on, so that they show how it does with strangers' files. Whoever tunes it by one of
// them moves that text to `tuned-texts.ts` and writes another one here.

import type { LanguageTexts } from './tuned-texts.ts'

const western = ['windows-1252', 'macintosh']
const central = ['windows-1250', 'iso-8859-2']

export const heldOutTexts: LanguageTexts[] = [
  {
    language: 'English',
    encodings: western,
    texts: [
      'She said “it’s fine” — but it wasn’t. The café’s menu cost £12, about 14 € (10° outside).',
      'Don’t forget: the board’s résumé is due Monday…\n• first item\n• second item\n',
    ],
  },
  {
    language: 'German',
    encodings: western,
    texts: [
      'Für den Teig das Öl, die Eier und den Zucker schaumig rühren. Danach die gemahlenen Haselnüsse unterheben und alles etwa vierzig Minuten lang bei mäßiger Hitze backen. Vor dem Servieren kühl stellen und mit Sahne übergießen.',
      'Kunde;Ansprechpartner\nACME GmbH;Günther Löw\nBeta AG;Käthe Weiß\n',
    ],
  },
  {
    language: 'French',
    encodings: western,
    texts: [
      'Mélangez la farine avec les œufs, le sucre et une pincée de sel. Ajoutez la crème fraîche, puis laissez reposer la pâte pendant une heure. Étalez-la ensuite sur une plaque beurrée et faites cuire jusqu’à ce qu’elle soit dorée.',
      'client;contact\nSté Générale;René Bézier\nMairie;Zoé Lemaître\n',
    ],
  },
  {
    language: 'Spanish',
    encodings: western,
    texts: [
      'El Ayuntamiento aprobó ayer el presupuesto del próximo año. Según la concejala, habrá más dinero para los jardines públicos y también para la educación; la oposición criticó que la decisión se tomó sin ningún diálogo.',
      'cliente;contacto\nBodegas Río;Íñigo Núñez\nCasa Sol;Begoña Díaz\n',
    ],
  },
  {
    language: 'Portuguese',
    encodings: western,
    texts: [
      'O governo anunciou ontem um novo plano para a educação. As escolas públicas receberão mais computadores e os salários dos professores também vão subir; porém, a oposição afirma que não há dinheiro suficiente no orçamento.',
      'Irmãos Brandão têm pão, pães e maçãs.',
    ],
  },
  {
    language: 'Italian',
    encodings: western,
    texts: [
      'Il consiglio comunale ha già approvato il bilancio. Ci sarà più denaro per le scuole e per la viabilità; l’opposizione però sostiene che la metà dei fondi andrà perduta, poiché nessuno ne verificherà l’utilità.',
      'Chissà se Nicolò verrà martedì.',
    ],
  },
  {
    language: 'Norwegian',
    encodings: western,
    texts: [
      'Kommunestyret vedtok i går budsjettet for neste år. Skolene får mer penger, og det skal bygges en ny gågate ved sjøen; opposisjonen mener at pengene ikke strekker til, og at innbyggerne må betale høyere avgifter.',
      'navn;sted\nBjørn Ødegård;Tromsø\nKåre Næss;Ålesund\n',
    ],
  },
  {
    language: 'Finnish',
    encodings: western,
    texts: [
      'Kaupunginvaltuusto hyväksyi eilen ensi vuoden talousarvion. Koulut saavat lisää rahaa, ja keskustaan rakennetaan uusi pyörätie. Opposition mielestä rahat eivät riitä, vaan asukkaat joutuvat maksamaan enemmän veroja.',
    ],
  },
  {
    language: 'Dutch',
    encodings: ['windows-1252'],
    texts: ['De coördinator vond het idee één van de beste; België en Israël doen ook mee, zei hij geïnteresseerd.'],
  },
  {
    language: 'Polish',
    encodings: central,
    texts: [
      'Rada miasta uchwaliła wczoraj budżet na przyszły rok. Szkoły dostaną więcej pieniędzy, a w śródmieściu powstanie nowa ścieżka rowerowa; opozycja twierdzi jednak, że środków nie wystarczy i mieszkańcy zapłacą wyższe podatki.',
      'klient;osoba\nFirma A;Józef Gałązka\nFirma B;Elżbieta Wójcik\n',
      'Zażółć gęślą jaźń.',
    ],
  },
  {
    language: 'Czech',
    encodings: central,
    texts: [
      'Zastupitelstvo včera schválilo rozpočet na příští rok. Školy dostanou více peněz a v centru vznikne nová cyklostezka; opozice však tvrdí, že prostředky nebudou stačit a že obyvatelé zaplatí vyšší daně.',
      'zákazník;osoba\nFirma A;Jiří Kříž\nFirma B;Božena Němcová\n',
    ],
  },
  {
    language: 'Hungarian',
    encodings: central,
    texts: [
      'A városi közgyűlés tegnap elfogadta a jövő évi költségvetést. Az iskolák több pénzt kapnak, és a belvárosban új kerékpárút épül; az ellenzék szerint azonban a források nem lesznek elegendőek, és nőni fognak az adók.',
      'ügyfél;név\nA Kft.;Kőszegi Ödön\nB Bt.;Tóth Erzsébet\n',
    ],
  },
  {
    language: 'Slovene',
    encodings: central,
    texts: [
      'Mestni svet je včeraj sprejel proračun za prihodnje leto. Šole bodo dobile več denarja, v središču pa bo zgrajena nova kolesarska steza; opozicija meni, da sredstev ne bo dovolj in da bodo občani plačevali višje davke.',
    ],
  },
  {
    language: 'Romanian',
    encodings: ['windows-1250'],
    texts: [
      'Consiliul local a aprobat ieri bugetul pentru anul viitor. Şcolile vor primi mai mulţi bani, iar în centru se va construi o nouă pistă pentru biciclete; opoziţia susţine însă că fondurile nu ajung şi că taxele vor creşte.',
    ],
  },
  {
    language: 'Turkish',
    encodings: ['windows-1254'],
    texts: [
      'Belediye meclisi dün gelecek yılın bütçesini onayladı. Okullara daha fazla para ayrılacak ve şehir merkezinde yeni bir bisiklet yolu yapılacak; muhalefet ise kaynakların yetmeyeceğini ve vergilerin artacağını söylüyor.',
      'müşteri;kişi\nA A.Ş.;Gökhan Işık\nB Ltd.;Nurgül Doğan\n',
    ],
  },
  {
    language: 'Lithuanian',
    encodings: ['windows-1257'],
    texts: [
      'Miesto taryba vakar patvirtino kitų metų biudžetą. Mokyklos gaus daugiau pinigų, o centre bus nutiestas naujas dviračių takas; opozicija teigia, kad lėšų neužteks ir gyventojai mokės didesnius mokesčius.',
    ],
  },
  {
    language: 'Latvian',
    encodings: ['windows-1257'],
    texts: [
      'Pilsētas dome vakar apstiprināja nākamā gada budžetu. Skolas saņems vairāk naudas, un centrā tiks izbūvēts jauns veloceliņš; opozīcija uzskata, ka līdzekļu nepietiks un iedzīvotājiem būs jāmaksā lielāki nodokļi.',
    ],
  },
  {
    language: 'Russian',
    encodings: ['windows-1251', 'koi8-r', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic'],
    texts: [
      'Городской совет вчера утвердил бюджет на будущий год. Школы получат больше денег, а в центре построят новую велодорожку; однако оппозиция считает, что средств не хватит и жителям придётся платить более высокие налоги.',
      'клиент;имя\nФирма;Жуков Илья\n',
    ],
  },
  {
    language: 'Serbian',
    encodings: ['windows-1251'],
    texts: [
      'Градско веће је јуче усвојило буџет за следећу годину. Школе ће добити више новца, а у центру ће бити изграђена нова бициклистичка стаза.',
    ],
  },
  {
    language: 'Ukrainian',
    encodings: ['windows-1251', 'koi8-u'],
    texts: [
      'Міська рада вчора затвердила бюджет на наступний рік. Школи отримають більше грошей, а в центрі збудують нову велодоріжку; опозиція ж вважає, що коштів не вистачить і мешканцям доведеться платити вищі податки.',
    ],
  },
  {
    language: 'Greek',
    encodings: ['windows-1253', 'iso-8859-7'],
    texts: [
      'Το δημοτικό συμβούλιο ενέκρινε χθες τον προϋπολογισμό του επόμενου έτους. Τα σχολεία θα πάρουν περισσότερα χρήματα και στο κέντρο θα φτιαχτεί νέος ποδηλατόδρομος.',
      'πελάτης;όνομα\nΕταιρεία;Γιώργος Παπαδόπουλος\n',
    ],
  },
  {
    language: 'Hebrew',
    encodings: ['windows-1255'],
    texts: ['מועצת העיר אישרה אתמול את התקציב לשנה הבאה. בתי הספר יקבלו יותר כסף ובמרכז ייבנה שביל אופניים חדש.'],
  },
  {
    language: 'Arabic',
    encodings: ['windows-1256'],
    texts: [
      'وافق مجلس المدينة أمس على ميزانية العام القادم. ستحصل المدارس على أموال أكثر وسيبنى طريق جديد للدراجات في وسط المدينة.',
    ],
  },
  {
    language: 'Thai',
    encodings: ['windows-874'],
    texts: ['สภาเมืองได้อนุมัติงบประมาณสำหรับปีหน้าเมื่อวานนี้ โรงเรียนจะได้รับเงินมากขึ้น และจะมีการสร้างทางจักรยานใหม่'],
  },
  {
    language: 'Japanese',
    encodings: ['shift_jis', 'euc-jp', 'iso-2022-jp'],
    texts: [
      '市議会は昨日、来年度の予算を承認した。学校への支出が増え、中心部には新しい自転車道が作られる予定だが、野党は財源が足りないと批判している。',
      '社員番号,氏名\n101,佐藤健一\n102,高橋美咲\n',
    ],
  },
  {
    language: 'Simplified Chinese',
    encodings: ['gb18030'],
    texts: [
      '市议会昨天通过了明年的预算。学校将得到更多的资金，市中心还要修建一条新的自行车道，但是反对派认为这些钱不够用。',
      '编号,客户\n101,上海贸易公司\n102,李建国\n',
    ],
  },
  {
    language: 'Traditional Chinese',
    encodings: ['big5'],
    texts: [
      '市議會昨天通過了明年的預算。學校將得到更多的資金，市中心還要修建一條新的自行車道，但是反對派認為這些錢不夠用。',
      '編號,客戶\n101,高雄貿易公司\n102,李建國\n',
    ],
  },
  {
    language: 'Korean',
    encodings: ['euc-kr'],
    texts: [
      '시의회는 어제 내년 예산을 승인했다. 학교는 더 많은 돈을 받고 도심에는 새로운 자전거 도로가 만들어질 예정이지만 야당은 재원이 부족하다고 비판했다.',
      '번호,고객\n101,이영희\n102,박지성\n',
    ],
  },
]
