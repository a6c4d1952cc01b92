import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAnalyzer } from './analyze.ts'

const { termsOf, queryTerms } = createAnalyzer()

/** Whether a text in this language has at least one form of each word of the query that is not a part of another. */
function isFound(query: string, text: string, language: string, languages = [language]): boolean {
  const { counts } = termsOf(text, language)
  const words = new Map<number, boolean>()
  for (const { term, word, weight } of queryTerms(query, languages)) {
    if (weight === 1) words.set(word, (words.get(word) ?? false) || counts.has(term))
  }
  return words.size > 0 && [...words.values()].every((found) => found)
}

const german = 'Die Kündigungen der Verträge gehen an Frau Müller, größere Häuser zuerst.'

test.each([
  ['en', 'configure the policy', 'Policies are configured here.'],
  ['en', 'running services', 'A service runs.'],
  ['de', 'Kündigung', german],
  ['de', 'Kuendigung Vertraege', german],
  ['de', 'Kundigung Vertrag', german],
  ['de', 'Mueller', german],
  ['de', 'Müller', 'Herr Mueller'],
  ['de', 'Strasse', 'die Straßen'],
  ['fr', 'employé', 'les employées du siège'],
  ['fr', 'conge', 'les congés payés'],
  ['es', 'configuracion', 'las configuraciones'],
  ['it', 'lavoratore qualità', 'i lavoratori di qualita'],
  ['pt', 'opções configuração', 'a opçao e as configuracoes'],
  ['nl', 'huis optie', 'huizen met opties'],
  ['sv', 'inställning', 'installningarna'],
  ['ru', 'новый файл', 'новые файлы'],
  ['el', 'αρχείο', 'τα αρχεία'],
  ['', 'Müller', 'Mr. Mueller'],
])('in %s, %j finds %j', (language, query, text) => {
  expect(isFound(query, text, language)).toBe(true)
})

describe('numbers and codes', () => {
  test.each([
    ['ISO-9001:2015', 'as in ISO-9001:2015, and'],
    ['iso9001', 'as in ISO-9001:2015'],
    ['ISO 9001', 'as in ISO-9001:2015'],
    ['E0308', 'error[E0308]: mismatched types'],
    ['foo_bar', '`foo_bar()`'],
    ['foobar', 'foo_bar'],
    ['getusername', 'call getUserName()'],
    ['user name', 'call getUserName()'],
    ['http server', 'new HTTPServer'],
    ['--dry-run', 'with `--dry-run`,'],
    ['2.3.1', 'since v2.3.1'],
    ['v2.3.1', 'since 2.3.1.'],
    ['§ 12', 'see §12'],
    ['§12', 'see § 12 (3)'],
    ['10.000,50', 'EUR 10,000.50'],
    ['0x1f', 'at 0x1F'],
    ['Ada@example.com', 'write to <ada@example.com>.'],
    ['https://example.com/docs/a-b', 'at https://example.com/docs/a-b.'],
    ['a-b', 'at https://example.com/docs/a-b.'],
    ['email', 'by e-mail'],
    ['e-mails', 'an email'],
    ['C++', 'in C++.'],
    ['C#', 'in C#,'],
    ['2024-05-01', 'on 2024/05/01'],
    ['１２', 'page 12'],
    ['information', 'infor-\n   mation'],
    ['well-known', 'well-\nknown'],
    ['office', 'oﬃce'],
    ['soft', 'so\u00adft'],
  ])('%j finds %j', (query, text) => {
    expect(isFound(query, text, 'en')).toBe(true)
  })

  test.each([
    ['12.3', '1.23 and 123'],
    ['C++', 'vitamin C'],
    ['§ 12', 'page 12'],
    ['9001:2015', 'ISO 9001 of 1994'],
  ])('%j does not find %j', (query, text) => {
    expect(isFound(query, text, 'en')).toBe(false)
  })

  test('a part weighs less than the whole', () => {
    expect(queryTerms('foo_1', []).map(({ word, weight }) => ({ word, weight }))).toEqual([
      { word: 0, weight: 1 },
      { word: 1, weight: 0.5 },
      { word: 2, weight: 0.5 },
    ])
  })
})

describe('scripts without blanks', () => {
  test.each([
    ['東京', '私は東京都に住んでいます。'],
    ['サーバー', 'Webサーバーの設定'],
    ['ｻｰﾊﾞｰ', 'サーバー'],
    ['安装', 'Node.js的安装方法'],
    ['猫', '「猫」'],
    ['휴가', '휴가를 신청하려면'],
    ['ประกัน', 'การประกันสังคม'],
    ['Node.js', '安装Node.js的方法'],
  ])('%j finds %j', (query, text) => {
    expect(isFound(query, text, '')).toBe(true)
  })

  test('another order of the same letters is not found', () => {
    expect(isFound('京都', '東京 都', '')).toBe(false)
  })
})

test('counts every term', () => {
  const { counts, length } = termsOf('run, runs; running e-mail', 'en')
  expect([[...counts.values()], length]).toEqual([[3, 1, 1, 1], 6])
})

test('a query asks for each word once, in all languages of the index, and least for what every text has', () => {
  const terms = queryTerms('The houses, the houses!', ['en', 'de', ''])
  expect(terms.map(({ word, weight }) => ({ word, weight }))).toEqual([
    { word: 0, weight: 0.1 },
    { word: 0, weight: 0.1 },
    { word: 0, weight: 0.1 },
    { word: 1, weight: 1 },
    { word: 1, weight: 1 },
    { word: 1, weight: 1 },
  ])
})

test('whatever a text is, it is found by itself, and terms are 32-bit numbers', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom('', 'en', 'de', 'ru', 'tr'),
      (text, language) => {
        const { counts, length } = termsOf(text, language)
        const asked = new Set(queryTerms(text, [language]).map(({ term }) => term))
        expect([...counts.keys()].filter((term) => !asked.has(term))).toEqual([])
        expect([...counts.keys()].every((term) => term === term >>> 0)).toBe(true)
        expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(length)
      },
    ),
  )
})

test('terms do not depend on what was read before', () => {
  const words = Array.from({ length: 30_000 }, (_, i) => `word${i}`).join(' ')
  const before = termsOf('Some words.', 'en')
  termsOf(words, 'en')
  expect(termsOf('Some words.', 'en')).toEqual(before)
})

test.each([
  ['letters', 'a'.repeat(1_000_000)],
  ['joints', 'a-'.repeat(500_000)],
  ['open joints', `a${'-'.repeat(1_000_000)}`],
  ['capitals', 'aB'.repeat(500_000)],
  ['section signs', '§'.repeat(1_000_000)],
  ['hyphens at the ends of lines', 'a-\n'.repeat(300_000)],
  ['a line that never goes on', `a-\n${' '.repeat(1_000_000)}`],
  ['kanji', '漢'.repeat(1_000_000)],
  ['marks', `a${'\u0301'.repeat(1_000_000)}`],
])('a million %s take linear time', (_, text) => {
  const start = process.threadCpuUsage()
  termsOf(text, 'de')
  const { user, system } = process.threadCpuUsage(start)
  expect((user + system) / 1e6).toBeLessThan(2)
})

test('in scripts without blanks, what only asks counts less', () => {
  const light = (query: string) => queryTerms(query, ['ja', 'zh', 'ko']).map(({ weight }) => weight <= 0.1)
  expect(light('什么是内存')).toEqual([true, true, false, false])
  expect(light('設定とは何ですか')).toEqual([false, false, true, true, true, true, true])
  expect(light('메모리란 무엇입니까')).toEqual([false, false, false, true, true, true, true])
})
