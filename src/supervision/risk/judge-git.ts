// What git does, where a line of the table cannot say it.

import { type Judge, judgeByRule, readAll } from './judge-by-rule.ts'
import { actionOf, hasOption, parsed, UNKNOWN } from './program-words.ts'
import { OBEYED_GIT_SETTINGS, PROGRAMS } from './programs.ts'
import { isThere, type Scene } from './scene.ts'
import type { ShellWord } from './shell-words.ts'

/** As the table says it. */
const PUSHES = 'pushes to a remote'

export const judgeGit: Judge = (scene, _name, rest) => {
  const { folders } = scene
  let left = rest
  while (/^(?:-C|--no-pager|-P|--no-optional-locks)$/.test(left[0]?.text ?? '')) {
    const to = left[1] ?? UNKNOWN
    const isFolder = left[0]?.text === '-C'
    if (isFolder) {
      scene.word(to, 'names')
      scene.goTo(to.kind === 'plain' ? to.text : null)
    }
    left = left.slice(isFolder ? 2 : 1)
  }
  if (/^-(?!-version$)/.test(left[0]?.text ?? '')) {
    scene.note('high', 'runs git with settings of its own')
    for (const word of left) scene.word(word, 'write')
    const at = left.findIndex(({ text }) => PROGRAMS.has(`git ${text}`))
    if (at >= 0) judgeGitVerb(scene, left.slice(at))
  } else judgeGitVerb(scene, left)
  scene.folders = folders
}

function judgeGitVerb(scene: Scene, rest: readonly ShellWord[]): undefined {
  const valued = [
    '--sort',
    '--format',
    '--contains',
    '--merged',
    '--no-merged',
    '--points-at',
    '-b',
    '-c',
    '--create',
    '-o',
  ]
  const { options, operands } = parsed(rest.slice(1), valued, ['-m', '--message'])
  const has = (...names: string[]): boolean => hasOption(options, names)
  const texts = operands.map(({ text }) => text)
  const isUnclear = operands.some(({ kind }) => kind !== 'plain')
  switch (rest[0]?.text) {
    case 'push': {
      const [remote] = operands
      // A name stands in the settings of the repository. Everything else is a place that the agent chose.
      if (remote !== undefined && !(remote.kind === 'plain' && /^[\w-]+$/.test(remote.text)))
        scene.note(
          'critical',
          'pushes to a place that is no remote of the repository',
          actionOf('Push to {}', operands),
        )
      scene.begins([...rest.slice(0, 1), ...(remote === undefined ? [] : [remote])], PUSHES)
      if (
        has('f', 'd', '--force', '--force-with-lease', '--force-if-includes', '--mirror', '--delete', '--prune') ||
        texts.some((text) => /^[+:]|:\+/.test(text))
      )
        scene.note(
          'critical',
          'forces a push or deletes on a remote',
          actionOf('Force-push to {/the remote}', operands),
        )
      break
    }
    case 'fetch':
    case 'ls-remote':
      if (!/^[\w-]*$/.test(texts[0] ?? '')) scene.note('high', 'reaches a place that is no remote of the repository')
      break
    case 'config': {
      const reads = /^(?:-l|--list|--get|--get-all|--get-regexp)$/
      const isPlain = options.every(
        ({ text }) => reads.test(text) || /^--(?:global|local|system|show-origin|show-scope|name-only)$/.test(text),
      )
      const isRead = options.some(({ text }) => reads.test(text)) || /^(?:list|get)$/.test(texts[0] ?? '')
      if (isRead && isPlain) return scene.note('low', 'reads settings of git')
      if (texts.some((text) => OBEYED_GIT_SETTINGS.test(text))) scene.note('critical', 'changes what git runs')
      break
    }
    case 'clean':
      if (has('f', '--force') && has('d', 'x', 'X'))
        scene.note('critical', 'deletes everything that git does not know', 'Delete all that git does not know')
      break
    case 'branch':
    case 'tag':
      if (operands.length > 0 && !has('l', '--list')) scene.note(isUnclear ? 'high' : 'low', `makes a ${rest[0].text}`)
      break
    case 'rm':
      if (has('r') && texts.some((text) => /^[./*]*$/.test(text)))
        scene.note('critical', 'deletes everything in a folder', 'Delete everything')
      break
    case 'remote':
    case 'reflog':
      if (operands.length > 0 && !PROGRAMS.has(`git ${rest[0].text} ${texts[0]}`))
        scene.note('high', 'changes settings of git')
      break
    case 'restore':
      if (!has('S', '--staged') || has('W', '--worktree')) break
      scene.begins(rest.slice(0, 1))
      scene.note('low', 'unstages changes')
      return readAll(scene, operands)
    case 'reset':
      // What is no file is a commit.
      if (texts.some((text) => text !== 'HEAD' && !isThere(scene, text)))
        scene.note('high', 'rewrites the history of the repository')
      break
    case 'checkout': {
      const isFile = texts.some((text) => isThere(scene, text))
      if ((isFile || operands.length > 1 || rest.some(({ text }) => text === '--')) && !has('b'))
        scene.note('high', 'throws work away', 'Throw changes away')
      if (isUnclear) scene.note('high', 'changes to a branch that is not clear')
      break
    }
    default:
  }
  // Git itself looks for the files that match a pattern.
  judgeByRule(
    scene,
    'git',
    rest.map((word) => (word.kind === 'plain' && /^[^-].*[*?[]/.test(word.text) ? { ...word, kind: 'glob' } : word)),
  )
}
