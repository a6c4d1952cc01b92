// The text of the test documents: a report with names, numbers, dates and punctuation, the same in every run.

export interface Report {
  title: string
  chapters: Chapter[]
}

export interface Chapter {
  heading: string
  paragraphs: string[]
  /** Each with the points below it. */
  points: { text: string; below: string[] }[]
  table: string[][]
}

const words =
  'harbour vessel cargo berth tide crane pilot manifest inspection delay contract penalty weather forecast schedule crew engine fuel storage customs clearance invoice payment insurance premium claim damage repair survey anchor channel depth draught tonnage container refrigerated hazardous loading unloading quarterly revenue margin forecasted increase decrease compared previous year approved rejected pending review committee management recommends postponing replacing hiring training reporting measuring between within without against because although therefore however'.split(
    ' ',
  )
const names = ['Amélie Dupont', 'Jürgen Weiß', 'Siobhán O’Neill', 'Łukasz Nowak', 'María-José Peña']

/** Our own small generator: the documents must not change with the version of a library. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** `plain`: without letters that only some fonts have. */
export function sampleReport(seed: number, chapters: number, plain = false): Report {
  const random = createRandom(seed)
  const word = () => words[random(words.length)] ?? ''
  const some = (count: number) => Array.from({ length: count }, word).join(' ')
  const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  const person = () => (plain ? 'Anna Miller' : (names[random(names.length)] ?? ''))
  const fact = () =>
    [
      `${random(90) + 10}.${random(9)}%`,
      `${random(900) + 100} tons`,
      `2026-0${random(9) + 1}-1${random(10)}`,
      person(),
    ][random(4)] ?? ''
  const sentence = () => `${upper(some(6 + random(6)))}, ${fact()}, ${some(4 + random(5))}.`
  return {
    title: `Annual report on ${some(2)}`,
    chapters: Array.from({ length: chapters }, () => ({
      heading: upper(some(3)),
      paragraphs: Array.from({ length: 3 }, () => Array.from({ length: 4 }, sentence).join(' ')),
      points: Array.from({ length: 3 }, () => ({ text: upper(some(5)), below: [upper(some(4)), upper(some(3))] })),
      table: [
        ['Port', 'Tons', 'Day', 'Contact'],
        ...Array.from({ length: 4 }, () => [
          upper(word()),
          String(random(9_000) + 1_000),
          `2026-1${random(3)}-2${random(9)}`,
          person(),
        ]),
      ],
    })),
  }
}

/** All text in the order in which a person reads it. */
export const reportText = ({ title, chapters }: Report): string => [title, ...chapters.map(chapterText)].join('\n')

export const chapterText = ({ heading, paragraphs, points, table }: Chapter): string =>
  [
    heading,
    ...paragraphs,
    ...points.flatMap(({ text, below }) => [text, ...below]),
    ...table.map((row) => row.join(' ')),
  ].join('\n')
