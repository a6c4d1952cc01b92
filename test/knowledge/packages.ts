// Where the documents come from. What is taken of a package follows from this table and the package alone: files are ordered by the hash
// of their path, and only so many are taken. Of a work in several formats and languages, each language is taken in one format.

export type Kind = 'html' | 'text' | 'manual' | 'pdf' | 'markdown'
export const languages = ['en', 'de', 'fr', 'es', 'it', 'ja', 'zh'] as const
export type Language = (typeof languages)[number]

export interface Part {
  kind: Kind
  language: Language
  /** Of the path in the package. */
  path: RegExp
  most: number
}

export interface Source {
  /** `debian:NAME`, or `npm:NAME@VERSION`. */
  name: string
  parts: readonly Part[]
}

const debian = (name: string, ...parts: Part[]): Source => ({ name: `debian:${name}`, parts })
const npm = (name: string, most = 60): Source => ({
  name: `npm:${name}`,
  parts: [{ kind: 'markdown', language: 'en', path: /\.mdx?$/, most }],
})
const part = (kind: Kind, language: Language, most: number, path: RegExp): Part => ({ kind, language, path, most })
const html = (language: Language, most: number, path = /\.html$/): Part => part('html', language, most, path)
const pdf = (language: Language, most: number, path = /\.pdf$/): Part => part('pdf', language, most, path)
const rfc = (most: number): Part => part('text', 'en', most, /\/rfc\d+\.txt$/)

const others = ['de', 'fr', 'es', 'it', 'ja', 'zh'] as const
const debianName = (language: Language): string => (language === 'zh' ? 'zh-cn' : language)

export const sources: readonly Source[] = [
  debian('doc-rfc-std', rfc(60)),
  debian('doc-rfc-std-proposed', rfc(150)),
  debian('doc-rfc-informational', rfc(40)),
  debian('doc-rfc-fyi-bcp', rfc(40)),
  debian(
    'python3.11-doc',
    html('en', 90, /\/html\/(?:library|howto|reference|c-api|tutorial|using|extending)\/.*\.html$/),
  ),
  debian('postgresql-doc-15', html('en', 90, /\/html\/.*\.html$/)),
  debian('git-doc', part('text', 'en', 40, /\/git-[a-z-]+\.txt$/), html('en', 20, /\/(?:git[a-z]+|howto.*)\.html$/)),
  debian('glibc-doc-reference', html('en', 70)),
  debian('sqlite3-doc', html('en', 60)),
  debian('postfix-doc', html('en', 25)),
  debian('bind9-doc', html('en', 15)),
  debian('nodejs-doc', part('html', 'en', 30, /\/api\/.*\.html$/)),
  debian('debian-policy', html('en', 15, /\/policy\.html\/.*\.html$/)),
  debian('texlive-latex-recommended-doc', pdf('en', 50)),
  debian('texlive-fonts-recommended-doc', pdf('en', 5)),
  debian('texlive-lang-german', pdf('de', 20)),
  debian('r-doc-pdf', pdf('en', 7)),
  debian('bash-doc', pdf('en', 1, /bashref\.pdf$/)),
  debian('manpages', part('manual', 'en', 60, /\/man[1-8]\//)),
  debian('manpages-dev', part('manual', 'en', 60, /\/man[23]\//)),
  debian(
    'apache2-doc',
    ...(['en', 'de', 'fr', 'es', 'ja'] as const).map((one) => html(one, 40, new RegExp(`/manual/${one}/.*\\.html$`))),
  ),
  debian(
    'debian-handbook',
    ...(
      [
        ['en', 'en-US'],
        ['de', 'de-DE'],
        ['fr', 'fr-FR'],
        ['es', 'es-ES'],
        ['it', 'it-IT'],
        ['ja', 'ja-JP'],
        ['zh', 'zh-CN'],
      ] as const
    ).map(([one, name]) => html(one, one === 'en' ? 30 : 35, new RegExp(`/html/${name}/.*\\.html$`))),
  ),
  debian(
    'installation-guide-amd64',
    html('en', 30, /\/en\/.*\.html$/),
    ...(['de', 'fr', 'es', 'it', 'ja'] as const).map((one) => pdf(one, 1, new RegExp(`install\\.${one}\\.pdf$`))),
    html('zh', 30, /\/zh_CN\/.*\.html$/),
  ),
  debian(
    'debian-history',
    ...(['de', 'fr', 'it', 'ja', 'es'] as const).map((one) => pdf(one, 1, new RegExp(`\\.${one}\\.pdf$`))),
  ),
  debian('libreoffice-help-en-us', html('en', 50, /\/text\/.*\.html$/)),
  ...others.map((one) => debian(`libreoffice-help-${debianName(one)}`, html(one, 70, /\/text\/.*\.html$/))),
  ...others.map((one) =>
    debian(`manpages-${one}`, part('manual', one, one === 'ja' ? 60 : 50, /\/man\/[^/]+\/man[1-8]\//)),
  ),
  ...others.map((one) =>
    debian(`debian-reference-${debianName(one)}`, one === 'es' || one === 'it' ? pdf(one, 1) : html(one, 15)),
  ),
  ...(['en', 'es', 'fr', 'it', 'ja'] as const).map((one) => debian(`aptitude-doc-${one}`, html(one, 30))),
  debian('maint-guide', html('en', 12)),
  ...others.map((one) =>
    debian(`maint-guide-${debianName(one)}`, one === 'ja' || one === 'de' ? pdf(one, 1) : html(one, 12)),
  ),
  debian('developers-reference', html('en', 10)),
  ...(['de', 'fr', 'it', 'ja'] as const).map((one) =>
    debian(`developers-reference-${one}`, one === 'fr' ? pdf(one, 1) : html(one, 12)),
  ),
  debian('debian-faq', html('en', 18)),
  ...others.flatMap((one) =>
    one === 'es'
      ? []
      : [debian(`debian-faq-${debianName(one)}`, one === 'fr' || one === 'it' ? pdf(one, 1) : html(one, 18))],
  ),
  ...(['en', 'de', 'fr', 'es', 'it', 'ja'] as const).map((one) => debian(`debian-edu-doc-${one}`, pdf(one, 1))),
  ...(['de', 'fr', 'es', 'it'] as const).map((one) => debian(`lilypond-doc-pdf-${one}`, pdf(one, 3))),
  ...(['de', 'es', 'fr'] as const).map((one) => debian(`ubuntu-packaging-guide-pdf-${one}`, pdf(one, 1))),

  npm('npm@11.21.2', 100),
  npm('ai@6.0.326', 90),
  npm('eslint-plugin-jest@29.17.0'),
  npm('eslint-plugin-import@2.32.0', 40),
  npm('eslint-plugin-jsx-a11y@6.10.2', 36),
  npm('markdownlint@0.40.0', 50),
  npm('fastify@5.12.8'),
  npm('undici@7.30.2'),
  npm('effect@4.1.0', 25),
  npm('pino@10.4.0', 16),
  npm('nx@24.0.6', 10),
  npm('date-fns@4.4.0', 10),
  npm('sequelize@6.37.8', 2),
  npm('mongoose@9.12.1', 4),
  npm('knex@3.3.0', 4),
  ...[
    'vite@8.3.8',
    'vitest@4.1.12',
    'express@5.3.0',
    'commander@14.0.3',
    'yargs@18.2.0',
    'joi@18.3.2',
    'got@14.6.6',
    'koa@3.2.1',
    'hono@4.13.19',
    'zod@4.6.7',
    'winston@3.19.0',
    'pg@8.23.1',
    'nodemailer@10.6.0',
    'sharp@0.35.5',
    'three@0.187.0',
    'yup@1.7.1',
    'ramda@0.32.0',
    'async@3.2.6',
    'bluebird@3.7.2',
    'request@2.88.2',
    'superagent@10.4.2',
    'cheerio@1.2.0',
    'jsdom@29.1.1',
    'sinon@22.1.0',
    'supertest@7.3.2',
    'nock@15.0.2',
    'ioredis@6.0.0',
    'mysql2@3.24.5',
    'better-sqlite3@12.11.1',
    'type-fest@5.10.0',
    'fp-ts@2.16.11',
    'xstate@5.33.3',
    'redux@5.0.1',
    'playwright@1.65.1',
    'http-proxy-middleware@3.0.10',
    'marked@18.2.1',
    'prettier@3.10.1',
    'typescript@7.0.2',
    'webpack@5.112.2',
    'eslint@10.15.0',
    'mocha@12.0.3',
    'rxjs@7.8.2',
    'svelte@5.57.3',
    'mermaid@11.17.2',
    'drizzle-orm@0.45.4',
    'bullmq@6.7.0',
    'socket.io@4.8.4',
    'stylelint@17.16.0',
    'eslint-plugin-unicorn@65.0.1',
  ].map((name) => npm(name, 2)),
]
