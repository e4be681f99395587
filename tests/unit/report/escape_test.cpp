#include <gtest/gtest.h>

#include <regex>

#include "base/subprocess.h"
#include "base/utf8.h"
#include "report/markdown.h"
#include "report/mermaid.h"

namespace warpwright {
namespace {

struct EscapeRow {
  const char* text;
  const char* markdown;
};
class Escapes : public ::testing::TestWithParam<EscapeRow> {};
TEST_P(Escapes, LeaveNothingActive) { EXPECT_EQ(report::EscapeMarkdown(GetParam().text), GetParam().markdown); }
INSTANTIATE_TEST_SUITE_P(
    All, Escapes,
    ::testing::Values(
        EscapeRow{"plain text.", "plain text."},
        EscapeRow{"31.2 % in 2.28 ms, 5 µs", "31.2\u00a0% in 2.28\u00a0ms, 5\u00a0µs"},
        EscapeRow{"8 % 4 is 0, 3 msgs", "8\u00a0% 4 is 0, 3 msgs"}, EscapeRow{"<img src=x>", "&lt;img src=x&gt;"},
        EscapeRow{"[a](javascript:x)", "\\[a\\](javascript:x)"},
        EscapeRow{"@octocat fixes #1", "@&#8203;octocat fixes \\#&#8203;1"},
        EscapeRow{"closes GH-7 and gh-8", "closes GH-&#8203;7 and gh-&#8203;8"},
        EscapeRow{"owner/repo#1", "owner/repo\\#&#8203;1"},
        EscapeRow{"resolves https://github.com/o/r/issues/1", "resolves https:&#8203;//github.com/o/r/issues/1"},
        EscapeRow{"WWW.example.org", "WWW&#8203;.example.org"}, EscapeRow{"/close", "&#8203;/close"},
        EscapeRow{"  /close", "&#8203;/close"}, EscapeRow{"a|b\nc", "a\\|b c"}, EscapeRow{"`code`", "\\`code\\`"},
        EscapeRow{"![x](y)", "\\!\\[x\\](y)"}, EscapeRow{"- item", "\\- item"}, EscapeRow{"1. item", "1\\. item"},
        EscapeRow{"12) item", "12\\) item"}, EscapeRow{"1.64x", "1.64x"}, EscapeRow{"1.", "1\\."},
        EscapeRow{"    code", "code"}, EscapeRow{"===", "\\==="}, EscapeRow{"$x$", "\\$x\\$"},
        EscapeRow{"a\x1b[31mb", "a \\[31mb"},
        EscapeRow{"a\xE2\x80\xAE"
                  "b",
                  "a\xEF\xBF\xBD"
                  "b"},
        EscapeRow{"a\xE2\x80\x8B"
                  "b",
                  "a\xEF\xBF\xBD"
                  "b"},
        EscapeRow{"\xff\xc0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        EscapeRow{"a\xF3\xA0\x81\x81", "a\xEF\xBF\xBD"}, EscapeRow{"µs → Ж 漢", "µs → Ж 漢"}, EscapeRow{"", ""}));

TEST(Escaping, FencesAreLongerThanAnyRunInside) {
  EXPECT_EQ(report::CodeBlock("a ``` b\n````\n", "c"), "`````c\na ``` b\n````\n`````\n");
  EXPECT_EQ(report::CodeSpan("a`b"), "`` a`b ``");
  EXPECT_EQ(report::CodeSpan(""), "` `");
  EXPECT_EQ(report::CodeCell("a|b"), "`a\\|b`");
  EXPECT_EQ(report::CodeBlock("/close\n/1\n// text\n", ""), "```\n /close\n/1\n// text\n```\n");
}

TEST(Escaping, CutsAtCharacterBorders) { EXPECT_EQ(report::EscapeMarkdown("aaä", 3), "aa…"); }

TEST(Escaping, OnlyPlainAddressesAreLinks) {
  EXPECT_EQ(report::SafeUrl("https://github.com/o/r/pull/1?x=1#y"), "https://github.com/o/r/pull/1?x=1#y");
  for (const char* url : {"javascript:x", "https://a.b/>x", "https://a.b/ x", "https://a.b/)\n", "ftp://a", ""})
    EXPECT_EQ(report::SafeUrl(url), "") << url;
}

TEST(Escaping, MermaidLabelsHoldPlainCharactersOnly) {
  EXPECT_EQ(report::MermaidLabel("row_parallel (mode=block, 4%)"), "row_parallel (mode=block, 4%)");
  EXPECT_EQ(report::MermaidLabel("a\"]; click a \"javascript:x\" <b>#35;`"), "a    click a  javascript:x   b  35  ");
  EXPECT_EQ(report::MermaidLabel("- 1. list"), "1. list");
  EXPECT_EQ(report::MermaidLabel("\"\"\""), "unnamed");
  EXPECT_EQ(report::MermaidLabel(std::string(100, 'a'), 10), "aaaaaaaaaa…");
}

// Text that would be active if it were not escaped: GitHub's renderer must show it as plain text.
const char* const kHostile[] = {"<script>alert(1)</script>",
                                "<img src=x onerror=alert(1)>",
                                "</details><h1>x</h1>",
                                "![a](http://evil/x.png)",
                                "[click](javascript:alert(1))",
                                "<https://evil.example>",
                                "https://evil.example/a",
                                "http://evil.example",
                                "www.evil.example",
                                "ftp://evil.example",
                                "someone@evil.example",
                                "mailto:someone@evil.example",
                                "xmpp:a@b.c",
                                "@octocat",
                                "@org/team",
                                "#1",
                                "GH-1",
                                "o/r#1",
                                "closes #1",
                                "Fixes: o/r#12",
                                "```\nfence",
                                "~~~\nfence",
                                "`code`",
                                "``a``",
                                "**bold** _it_ ~~no~~",
                                "# heading",
                                "> quote",
                                "- list",
                                "* list",
                                "+ list",
                                "1. list",
                                "1) list",
                                "---",
                                "***",
                                "===",
                                "| a | b |",
                                "a | b",
                                "[^1]: note",
                                "[a]: http://evil",
                                "[x] task",
                                "- [x] task",
                                "<!-- comment",
                                "--><b>",
                                "&lt;b&gt;",
                                "&#64;octocat",
                                "\\@octocat",
                                "\\\\`",
                                "\\",
                                "`",
                                "``",
                                "a\\|b",
                                "$math$",
                                "/close",
                                "/assign @me",
                                "line\n\n# two",
                                "line\r\n/close",
                                "tab\tcode",
                                "     indented",
                                "a\x01\x02\x1b[0m",
                                ("\xE2\x80\xAE"
                                 "evil"),
                                "\xEF\xBB\xBF#1",
                                "\xE2\x80\xA8- x",
                                "\xff\xfe",
                                ":smile:",
                                "<details open>",
                                "<a href='x'>y</a>",
                                "autolink:<x@y.z>",
                                "foo_bar_baz",
                                "5 * 3 * 2",
                                "![](x)",
                                "[[wiki]]",
                                "{{ x }}",
                                "\\<b\\>",
                                "a  \nb",
                                "<?php ?>",
                                "<![CDATA[x]]>"};

std::string Rendered(const std::string& markdown) {
  base::Command command;
  command.argv = {"cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "tasklist", "-e", "autolink"};
  command.env = base::MinimalEnvironment();
  command.input = markdown;
  const auto run = base::Run(command);
  return run && run->exit_code == 0 ? run->out : std::string();
}

// Resolves HTML escapes, and removes the zero-width spaces that break words.
std::string TextOf(std::string html) {
  html = std::regex_replace(html, std::regex("\xE2\x80\x8B"), "");
  for (const auto& [from, to] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    html = std::regex_replace(html, std::regex(from), to);
  return html;
}

TEST(Escaping, WhatGitHubsRendererMakesOfIt) {
  if (Rendered("x") != "<p>x</p>\n") GTEST_SKIP() << "cmark-gfm is not installed";
  std::string document;
  for (const char* text : kHostile)
    document += "- " + report::EscapeMarkdown(text) + "\n\n<hr>\n\n| h |\n|---|\n| " + report::EscapeMarkdown(text) +
                " |\n\n<hr>\n\n" + report::EscapeMarkdown(text) + "\n\n<hr>\n\n" + report::CodeSpan(text) +
                "\n\n<hr>\n\n";
  const std::string html = Rendered(document);
  size_t at = 0;
  const auto next = [&] {
    const size_t end = html.find("<hr>\n", at);
    const std::string part = html.substr(at, end - at);
    at = end == std::string::npos ? html.size() : end + 5;
    return part;
  };
  // The remaining text must not contain a word that GitHub's filters would link.
  const std::regex links("@[A-Za-z0-9]|#[0-9]|[Gg][Hh]-[0-9]|://|[Ww][Ww][Ww]\\.");
  for (const char* text : kHostile) {
    std::string clean = base::CleanText(text, 500);
    clean = clean.find_first_not_of(' ') == std::string::npos
                ? ""
                : clean.substr(clean.find_first_not_of(' '),
                               clean.find_last_not_of(' ') - clean.find_first_not_of(' ') + 1);
    const std::string item = next(), cell = next(), paragraph = next(), span = next();
    EXPECT_EQ(TextOf(item), "<ul>\n<li>" + clean + "</li>\n</ul>\n") << text;
    EXPECT_NE(TextOf(cell).find("<td>" + clean + "</td>\n</tr>\n</tbody>"), std::string::npos) << text << cell;
    EXPECT_EQ(TextOf(paragraph), "<p>" + clean + "</p>\n") << text;
    EXPECT_FALSE(std::regex_search(paragraph, links)) << paragraph;
    EXPECT_EQ(span.rfind("<p><code>", 0), 0u) << span;
    EXPECT_TRUE(span.ends_with("</code></p>\n")) << span;
    EXPECT_EQ(span.find('<', 9), span.size() - 12) << span;
  }
  EXPECT_EQ(at, html.size());
}

TEST(Escaping, CodeBlocksHoldEverything) {
  if (Rendered("x") != "<p>x</p>\n") GTEST_SKIP() << "cmark-gfm is not installed";
  for (const char* text : kHostile) {
    const std::string html = Rendered(report::CodeBlock(text, "text") + "\nafter\n");
    EXPECT_EQ(html.rfind("<pre><code class=\"language-text\">", 0), 0u) << html;
    EXPECT_TRUE(html.ends_with("</code></pre>\n<p>after</p>\n")) << html;
    EXPECT_EQ(html.find('<', 33), html.find("</code")) << html;
  }
}

}  // namespace
}  // namespace warpwright
