import { expect, test } from 'vitest'
import { loadLanguage } from './highlight.ts'
import { languageOf } from './languages.ts'

test('colours code without a change of its text', async () => {
  const code = 'const a: string = "x" // <b>&amp;\u202e\n'
  const pieces = (await loadLanguage('typescript'))(code)
  expect(pieces?.map(({ text }) => text).join('')).toBe(code)
  expect(pieces?.[0]).toEqual({ text: 'const', tone: 'keyword' })
})

test('code inside of a string does not look like the string, and a directive not like a comment', async () => {
  const tonesOf = async (name: 'ruby' | 'c', code: string) =>
    (await loadLanguage(name))(code)?.map(({ text, tone }) => `${text}:${tone}`)
  expect(await tonesOf('ruby', '"a#{run}"')).toContainEqual(expect.stringMatching(/run.*:null/))
  expect(await tonesOf('c', '#define f() system("x")')).not.toContainEqual(expect.stringContaining(':comment'))
})

test('knows the common languages by their names and by the endings of files, and leaves others alone', async () => {
  const files =
    'a.ts a.tsx a.js a.jsx a.json a.yml a.py a.go a.rs a.java a.kt a.c a.h a.cpp a.cs a.php a.rb a.swift a.sh a.sql a.html a.xml a.css a.scss a.md Dockerfile src/Makefile Cargo.toml fix.patch'
  const found = files.split(' ').map((name) => [name, languageOf(name)] as const)
  expect(found.filter(([, language]) => language === null)).toEqual([])
  for (const [, language] of found) expect((await loadLanguage(language ?? 'css'))('a')).not.toBe(null)
  expect(['cobol', '__proto__', '', 'text', 'a.txt', 'constructor'].map(languageOf)).toEqual(Array(6).fill(null))
})
