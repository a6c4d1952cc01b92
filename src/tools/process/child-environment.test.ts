import { expect, test } from 'vitest'
import { childEnvironment } from './child-environment.ts'

test('a child gets PATH, home and language, but none of our secrets', () => {
  const ours = {
    PATH: '/bin',
    HOME: '/home/ada',
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    TMPDIR: '/tmp',
    USER: 'ada',
    SHELL: '/bin/sh',
    TERM: 'xterm',
    TZ: 'UTC',
    OPENAI_API_KEY: 'sk-secret',
    NODE_OPTIONS: '--require ./evil.js',
    PATH_TO_KEY: '/key',
    LC_TIME: '() { :; }; echo run me',
    USERNAME: undefined,
  }

  expect(childEnvironment(ours, 'linux')).toEqual({
    PATH: '/bin',
    HOME: '/home/ada',
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    TMPDIR: '/tmp',
    USER: 'ada',
    SHELL: '/bin/sh',
    TERM: 'xterm',
    TZ: 'UTC',
  })
})

test('on Windows it gets the variables that programs need there, in any case', () => {
  const ours = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', 'ProgramFiles(x86)': 'C:\\x86', AWS_SECRET: 'no' }

  expect(childEnvironment(ours, 'win32')).toEqual({
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    'ProgramFiles(x86)': 'C:\\x86',
  })
})
