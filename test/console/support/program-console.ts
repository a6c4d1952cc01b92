// The console of the real program. The program that tests build has none, so it gets a copy of the one in `dist`.

import { cpSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { inject } from 'vitest'

const built = join(import.meta.dirname, '../../../dist/console')

/** Call it before the program starts: a server reads the files of the console once. */
export function putConsole(): string {
  const folder = join(dirname(inject('program')), '../dist/console')
  rmSync(folder, { recursive: true, force: true })
  cpSync(built, folder, { recursive: true })
  return folder
}

/** The same console as another build would write it: all its files have other names. */
export function putNextConsole(): void {
  const folder = putConsole()
  const renamed = globSync('assets/*', { cwd: folder }).map((path) => {
    const name = basename(path)
    return { name, next: name.replace(/(\.\w+)$/, 'x$1') }
  })
  for (const path of globSync(['assets/*.js', 'assets/*.css', '*.html'], { cwd: folder })) {
    let text = readFileSync(join(folder, path), 'utf8')
    for (const { name, next } of renamed) text = text.replaceAll(name, next)
    writeFileSync(join(folder, path), text)
  }
  for (const { name, next } of renamed) renameSync(join(folder, 'assets', name), join(folder, 'assets', next))
}
