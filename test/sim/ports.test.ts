import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// A forgotten Date.now() would make a trial depend on more than its seed.
const notAPort =
  /\b(Date\b|Math\.random|setTimeout|setInterval|setImmediate|queueMicrotask|performance\b|randomBytes|randomUUID|fetch\(|node:|process\.)/

test.each(['engine', 'log'])('src/%s takes time, chance and I/O from its ports alone', (folder) => {
  const root = fileURLToPath(new URL(`../../src/${folder}/`, import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('testing'),
  )
  const offences = files.flatMap((name) =>
    readFileSync(`${root}${name}`, 'utf8')
      .split('\n')
      .flatMap((line, i) =>
        notAPort.test(line.replace(/\/\/.*|\/\*.*|^\s*\*.*/, '')) ? [`${name}:${i + 1} ${line.trim()}`] : [],
      ),
  )

  expect(files.length).toBeGreaterThan(2)
  expect(offences).toEqual([])
})
