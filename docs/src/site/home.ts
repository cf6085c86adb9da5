/** The head of the site's first page; the README's text follows below its title. */
const HOME = `---
layout: home
title: headgate
titleTemplate: pace requests into rate-limited APIs
hero:
  name: headgate
  text: Many requests into a rate-limited API
  tagline: It sends as fast as the API accepts, retries what is rejected, and shows where every request waits.
  actions:
    - theme: brand
      text: Your first batch
      link: /start
    - theme: alt
      text: A file of prompts, no code
      link: /guides/batch
    - theme: alt
      text: All pages
      link: /pages
features:
  - title: Finds the rate
    details: From response headers and 429s, without a setting. Or set the limits that you know.
    link: /concepts/adaptive-rate
  - title: Loses nothing
    details: Each request ends once, with its answer or its error. Slots, bytes and tokens are given back exactly.
    link: /concepts/guarantees
  - title: Says why it waits
    details: A live page, OpenTelemetry metrics and spans name the limit that each request waits for.
    link: /guides/inspector
---

`;

/** The README without its title and its first paragraph, which the head has. */
export function homeOf(readme: string): string {
  const body = readme.replace(/^# .*\n+.*\n+/, '');
  return `${HOME}${body}`;
}
