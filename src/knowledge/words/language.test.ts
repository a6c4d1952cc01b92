import { expect, test } from 'vitest'
import { languageOf } from './language.ts'

test.each([
  ['en', 'Employees who want to take parental leave must ask for it in writing. The request is sent to the manager.'],
  ['de', 'Wer Elternzeit nehmen will, muss sie schriftlich beantragen. Der Antrag geht an die Vorgesetzte.'],
  ['fr', 'Les salariés qui veulent prendre un congé parental doivent le demander par écrit à leur responsable.'],
  ['es', 'Los empleados que quieran tomar un permiso parental deben solicitarlo por escrito a su responsable.'],
  ['it', 'I dipendenti che vogliono prendere un congedo parentale devono chiederlo per iscritto al responsabile.'],
  [
    'pt',
    'Os trabalhadores que queiram tirar licença parental devem pedi-la por escrito ao seu responsável. Não é possível sem isso.',
  ],
  ['nl', 'Medewerkers die ouderschapsverlof willen opnemen, moeten dat schriftelijk aanvragen bij hun leidinggevende.'],
  [
    'sv',
    'Den som vill ta ut föräldraledighet måste ansöka om det skriftligt. Ansökan skickas till chefen och får inte vara muntlig.',
  ],
  [
    'fi',
    'Jos haluat pitää vanhempainvapaata, sitä on haettava kirjallisesti. Hakemus lähetetään esimiehelle, joka voi hyväksyä sen.',
  ],
  [
    'pl',
    'Pracownik, który chce wziąć urlop, musi złożyć wniosek na piśmie. Nie jest to możliwe przez telefon, ale może być przez pocztę.',
  ],
  [
    'cs',
    'Zaměstnanec, který chce čerpat volno, o ně musí požádat písemně. Žádost se podává u vedoucího a není možná po telefonu.',
  ],
  ['hu', 'Aki szabadságot szeretne, annak ezt írásban kell kérnie. A kérelem a vezetőhöz kerül, és nem lehet szóban.'],
  [
    'tr',
    'İzin almak isteyen çalışanlar bunu yazılı olarak talep etmelidir. Bu talep bir yöneticiye gönderilir ve daha sonra onaylanır.',
  ],
  [
    'ru',
    'Сотрудники, которые хотят взять отпуск, должны подать заявление. Это можно сделать только письменно, а не по телефону.',
  ],
  [
    'uk',
    'Працівники, які хочуть взяти відпустку, мають подати заяву. Це можна зробити тільки письмово, або через пошту, що є на сайті.',
  ],
  ['el', 'Οι εργαζόμενοι που θέλουν να πάρουν άδεια πρέπει να την ζητήσουν από τον προϊστάμενο με επιστολή.'],
  [
    'en',
    '// Returns the user, or null if there is none.\nexport function getUser(id: string): User | null {\n  return users.get(id) ?? null\n}',
  ],
  ['', '従業員は育児休暇を書面で申請しなければなりません。'],
  ['', 'Urlaub'],
  ['', '1 2 3 4.50 | --- |'],
  ['', ''],
])('%j: %s', (language, text) => {
  expect(languageOf(text)).toBe(language)
})
