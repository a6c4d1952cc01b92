// What one program does with its words. Most programs are lines of `programs.ts`; those that run other programs, or whose words say more
// than a line can, have a judge.

import { basename } from 'node:path'
import { judgeCd, judgeDeclare, judgeSet, judgeTest } from './judge-builtins.ts'
import { type Judge, judgeByRule } from './judge-by-rule.ts'
import {
  judgeAwk,
  judgeChmod,
  judgeCopy,
  judgeJq,
  judgeRm,
  judgeSearch,
  judgeSed,
  judgeSqlite,
  judgeTar,
  judgeUniq,
} from './judge-files.ts'
import { judgeFind, judgeXargs } from './judge-found.ts'
import { judgeGit } from './judge-git.ts'
import {
  judgeCommand,
  judgeEnv,
  judgeEval,
  judgeInterpreter,
  judgeMake,
  judgeNpx,
  judgePackages,
  judgePerl,
  judgeShell,
  judgeSource,
  judgeWrapped,
  runsCode,
  runsFile,
  runsOwn,
} from './judge-runners.ts'
import { INTERPRETERS, isKnown, PROGRAMS, SHELLS, WRAPPERS } from './programs.ts'
import type { Scene } from './scene.ts'
import type { ShellWord } from './shell-words.ts'

const SYSTEM_FOLDER = /^(?:\/usr(?:\/local)?)?\/s?bin\/$|^\/opt\/homebrew\/bin\/$/

/** `words` begin with the program. */
export function judgeProgram(scene: Scene, words: readonly ShellWord[]): undefined {
  const [first, ...rest] = words
  if (first === undefined) return
  if (first.kind !== 'plain') {
    if (scene.tainted) runsCode(scene)
    return scene.note('high', 'runs a program that is not clear')
  }
  if (/[^ -~]/.test(first.text)) scene.note('critical', 'runs a program with a name that looks like another')
  const folder = first.text.slice(0, first.text.lastIndexOf('/') + 1)
  // Some disks ignore case.
  const name = basename(first.text).toLowerCase()
  scene.called = folder === '' ? name : first.text
  if (folder !== '' && !SYSTEM_FOLDER.test(folder) && !first.text.includes('://')) {
    runsFile(scene, first, 'runs a program of the workspace', rest)
    if (!/(?:^|\/)\.?bin\/$/.test(folder) || !isKnown(name)) return runsOwn(scene, [], rest)
  }
  const judge = JUDGES.get(name)
  if (judge !== undefined) return judge(scene, name, rest)
  if (SHELLS.has(name)) return judgeShell(scene, name, rest)
  if (INTERPRETERS.has(name) && !PROGRAMS.has(`${name} ${rest[0]?.text}`)) return judgeInterpreter(scene, name, rest)
  if (Object.hasOwn(WRAPPERS, name)) return judgeWrapped(scene, name, rest)
  const both = `${name} ${rest[0]?.text}`
  if (Object.hasOwn(WRAPPERS, both)) return judgeWrapped(scene, both, rest.slice(1))
  judgeByRule(scene, name.startsWith('mkfs.') ? 'mkfs' : name, rest)
}

const JUDGES: ReadonlyMap<string, Judge> = new Map(
  Object.entries<Judge>({
    'cd pushd popd': judgeCd,
    git: judgeGit,
    rm: judgeRm,
    find: judgeFind,
    xargs: judgeXargs,
    'env cross-env': judgeEnv,
    sed: judgeSed,
    'awk gawk mawk': judgeAwk,
    jq: judgeJq,
    chmod: judgeChmod,
    'cp mv ln': judgeCopy,
    'npx bunx pnpx': judgeNpx,
    'npm pnpm yarn': judgePackages,
    'make gmake just': judgeMake,
    perl: judgePerl,
    sqlite3: judgeSqlite,
    'eval trap': judgeEval,
    'source .': judgeSource,
    'export declare typeset local readonly': judgeDeclare,
    set: judgeSet,
    'test [': judgeTest,
    command: judgeCommand,
    'grep egrep fgrep rg diff': judgeSearch,
    uniq: judgeUniq,
    tar: judgeTar,
  }).flatMap(([names, judge]) => names.split(' ').map((name) => [name, judge] as const)),
)
