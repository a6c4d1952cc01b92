// The languages that have colours, by the names that agents give them and by the endings of files.

const names = {
  bash: 'sh zsh shell bashrc zshrc profile',
  c: 'h',
  cpp: 'c++ cc cxx hpp hh hxx',
  csharp: 'cs c#',
  css: '',
  diff: 'patch',
  dockerfile: 'docker containerfile',
  go: 'golang',
  ini: 'toml cfg conf properties editorconfig',
  java: '',
  javascript: 'js jsx mjs cjs',
  json: 'jsonc json5 webmanifest',
  kotlin: 'kt kts',
  makefile: 'make mk',
  markdown: 'md mdx',
  php: '',
  python: 'py pyi',
  ruby: 'rb gemfile rakefile',
  rust: 'rs',
  scss: 'sass less',
  sql: '',
  swift: '',
  typescript: 'ts tsx mts cts',
  xml: 'html htm svg xhtml vue svelte plist',
  yaml: 'yml',
} as const

export type Language = keyof typeof names

const byName = new Map(
  (Object.keys(names) as Language[]).flatMap((language) =>
    [language, ...names[language].split(' ')].map((name) => [name, language] as const),
  ),
)

/** `ts`, `src/a.ts` and `Dockerfile` alike. Null: it has no colours. */
export const languageOf = (name: string): Language | null =>
  byName.get(name.toLowerCase().split(/[/.]/).at(-1) || '?') ?? null
