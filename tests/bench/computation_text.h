#pragma once
#include <fmt/format.h>
#include "core/computation.h"
namespace crude { using namespace warpwright; 
inline std::string E(const core::Size& s){return s.text();}
inline std::string A(const core::Affine& a){ std::string t; for(auto&x:a.terms){ std::string v=fmt::format("v{}",x.variable); if(x.part==core::Affine::Part::kQuotient) v="("+v+"/"+E(*x.modulus)+")"; if(x.part==core::Affine::Part::kRemainder) v="("+v+"%"+E(*x.modulus)+")"; t+=fmt::format("{}{}*{}",t.empty()?"":"+",E(x.coefficient),v);} if(E(a.constant)!="0"||t.empty()) t+="+"+E(a.constant); if(E(a.divisor)!="1") t="("+t+")/"+E(a.divisor); return t; }
inline std::string G(const std::vector<core::Guard>& gs){ std::string t; for(auto&g:gs){ t+=" ["+(g.low?E(*g.low)+"<=":std::string())+A(g.value)+(g.high?"<"+E(*g.high):"")+"]"; } return t; }
inline std::string N(const core::Stage& s, core::NodeId id){ return std::visit(Overload{
 [&](const core::Constant&c){return fmt::format("{:.7g}",c.value);}, [&](const core::ScalarRead&c){return c.name;}, [&](const core::SizeValue&c){return "#"+E(c.size);}, [&](const core::IndexValue&c){return "idx("+A(c.index)+")";},
 [&](const core::TensorRead&r){ std::string t=r.tensor+"["; for(auto&c:r.at){ if(t.back()!='[')t+=", "; t+= std::holds_alternative<core::Affine>(c)?A(std::get<core::Affine>(c)):N(s,std::get<core::NodeId>(c)); } return t+"]";},
 [&](const core::Reduce&r){ const char* n[]={"SUM","PROD","MAX","MIN","ARGMAXF","ARGMAXL","ARGMINF","ARGMINL"}; std::string t=n[(int)r.op]; t+="_{"; for(auto&v:r.variables) t+=fmt::format("v{}<{},",v.id,E(v.extent)); t+=G(r.guards)+"} "+N(s,r.body); if(r.index) t+=" index "+A(*r.index); return t;},
 [&](const core::Nary&n){ const char* names[]={" + "," * ",",",","}; std::string t=n.op==core::ReduceOp::kMax?"max(":n.op==core::ReduceOp::kMin?"min(":"("; bool f=true; for(auto a:n.args){ if(!f)t+=names[(int)n.op]; f=false; t+=N(s,a);} return t+")";},
 [&](const core::Call&c){ std::string t=fmt::format("f{}(",(int)c.function); for(auto a:c.args)t+=N(s,a)+","; return t+")";},
 [&](const core::Compare&c){ const char* n[]={"<","<=","==","!="}; return "("+N(s,c.left)+n[(int)c.op]+N(s,c.right)+")";},
 [&](const core::Logic&l){ std::string t=l.op==core::Logic::Op::kNot?"not(":l.op==core::Logic::Op::kAnd?"and(":"or("; for(auto a:l.args)t+=N(s,a)+","; return t+")";},
 [&](const core::Select&x){return "("+N(s,x.condition)+" ? "+N(s,x.then)+" : "+N(s,x.otherwise)+")";}, [&](const core::Convert&c){return "cvt("+N(s,c.arg)+")";}}, s.nodes[id]); }

inline std::string Text(const core::Computation& c){ std::string out; for(auto&s:c.stages){ std::string t="    "+s.name+"{"; for(auto&e:s.extents)t+=E(e)+","; t+="}"+G(s.domain); if(!s.at.empty()){t+=" at("; for(auto&a:s.at)t+=A(a)+"; "; t+=")";} out+=fmt::format("{} = {}\n",t,N(s,s.nodes.size()-1).substr(0,500)); } return out; } }
using crude::Text;
